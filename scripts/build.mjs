// Compiles everything (product, tests, benchmarks) into dist/ with the same tree, so that tests, worker threads and
// child processes run exactly the files that are published.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildConsole } from './build-console.mjs'
import { bundleLambda } from './bundle-lambda.mjs'
import { bundleProcesses } from './bundle-processes.mjs'
import { bundleTypebox } from './bundle-typebox.mjs'
import { writeClientDeclarations } from './client-declarations.mjs'
import { copyLua } from './copy-lua.mjs'
import { copyDeclarations } from './declarations.mjs'
import { digestOf, isBuiltFrom, markBuiltFrom } from './sources-digest.mjs'

const root = new URL('..', import.meta.url)
const typescript = dirname(createRequire(import.meta.url).resolve('typescript/package.json'))
const output = fileURLToPath(new URL('dist', root))
const SOURCES = ['src', 'test', 'bench', 'deploy', 'scripts', 'console', 'tsconfig.json', 'package-lock.json']
const sources = digestOf(SOURCES)
// `npm install` has already built the same sources.
if (isBuiltFrom(output, sources)) process.exit(0)
// Keeps the console: it is rebuilt only when its sources changed.
for (const name of existsSync(output) ? readdirSync(output) : []) {
  if (name !== 'console') rmSync(join(output, name), { recursive: true, force: true })
}
const { status } = spawnSync(process.execPath, [join(typescript, 'bin', 'tsc')], {
  cwd: root,
  stdio: 'inherit',
})
if (status === 0) {
  copyLua(output)
  await bundleLambda(output)
  await bundleTypebox(output)
  await writeClientDeclarations(output)
  // Must run last: it bundles the output of the other steps.
  await bundleProcesses(output)
  copyDeclarations(output)
  await buildConsole(join(output, 'console'))
  markBuiltFrom(output, sources)
}
process.exit(status ?? 1)
