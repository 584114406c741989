// npm runs this after `npm install`: it builds the product. `npx catraca` in a clone runs it too, because npm links
// the package into its cache before it runs the command, and a clone cannot prevent that. An existing build then
// stays: a rebuild would remove files of a running server, and a user who interrupts a slow first command would leave
// npm with a half-made link.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const inClone = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url))

const isNpx = process.env.npm_command === 'exec'
if (!isNpx || !existsSync(inClone('dist/src/cli/main.js'))) {
  const { status } = spawnSync(process.execPath, [inClone('scripts/build.mjs')], { stdio: 'inherit' })
  process.exitCode = status ?? 1
}
