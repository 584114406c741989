// Compiles everything (product, tests, benchmarks) into dist/, which mirrors the tree,
// so that tests, worker threads and child processes run exactly the files that ship.
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundleLambda } from './bundle-lambda.mjs'
import { copyLua } from './copy-lua.mjs'

const root = new URL('..', import.meta.url)
const typescript = dirname(createRequire(import.meta.url).resolve('typescript/package.json'))
rmSync(new URL('dist', root), { recursive: true, force: true })
const { status } = spawnSync(process.execPath, [join(typescript, 'bin', 'tsc')], {
  cwd: root,
  stdio: 'inherit',
})
if (status === 0) {
  const output = fileURLToPath(new URL('dist', root))
  copyLua(output)
  await bundleLambda(output)
}
process.exit(status ?? 1)
