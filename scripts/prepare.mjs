// What npm runs behind `npm install`: the build.
// `npx catraca` in a clone runs it too: npm links the package into its own cache before it runs the command, and nothing
// in the clone can spare it that. What is built already stays as it is then: to build anew would take the files away from
// under a server that runs, and whoever stops a slow first command leaves npm with half a link.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const inClone = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url))

const isNpx = process.env.npm_command === 'exec'
if (!isNpx || !existsSync(inClone('dist/src/cli/main.js'))) {
  const { status } = spawnSync(process.execPath, [inClone('scripts/build.mjs')], { stdio: 'inherit' })
  process.exitCode = status ?? 1
}
