// Test runners and bundlers of users.
import assert from 'node:assert/strict'
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { copied, installed, node, project, root, temporary } from './project.mjs'
import { withRedis } from './servers.mjs'

/** A copy of a folder of tests, with the example of the page about tests, beside the packages. */
function withExample(folder, file) {
  const copy = copied(folder)
  const page = readFileSync(join(root, 'docs/guides/testing.md'), 'utf8')
  const code = page.split(/^```\w*\n/m).find((block) => block.startsWith(`// ${file}\n`))
  writeFileSync(join(copy, file), code)
  symlinkSync(installed, join(copy, 'node_modules'))
  return copy
}

export function jest() {
  const folder = withExample('jest', 'transfer.test.js')
  const said = node([join(installed, 'jest', 'bin', 'jest.js'), '--rootDir', folder], { cwd: folder })
  assert.match(said, /Tests: +4 passed/)
}

export function vitest() {
  const folder = withExample('vitest', 'transfer.test.ts')
  const command = join(installed, 'vitest', 'vitest.mjs')
  const env = { NO_COLOR: '1' }
  assert.match(node([command, 'run', '--root', folder], { cwd: folder, env }), /Tests +2 passed/)
}

export function nodeTest() {
  const folder = withExample('smoke', 'lock.test.mjs')
  assert.match(node(['--test', 'lock.test.mjs'], { cwd: folder }), /^(#|ℹ) pass 1$/m)
}

/** Packages that only some stores need are not installed: the bundler must not look for them. */
async function bundled(format) {
  const { build } = createRequire(join(installed, 'x.js'))('esbuild')
  const folder = join(temporary, `bundle-${format}`)
  mkdirSync(folder)
  cpSync(join(project, 'bundle', 'app.ts'), join(project, 'node_modules', '.app.ts'))
  const outfile = join(folder, format === 'esm' ? 'app.mjs' : 'app.cjs')
  await build({
    entryPoints: [join(project, 'node_modules', '.app.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format,
    logLevel: 'error',
    // Some packages that are bundled call `require`.
    ...(format === 'esm' && {
      banner: {
        js: "import { createRequire as r } from 'node:module'; const require = r(import.meta.url)",
      },
    }),
  })
  return { folder, outfile }
}

export const bundle = (format) => async () => {
  const { folder, outfile } = await bundled(format)
  await withRedis((store) => {
    // Beside no package at all: scripts of Redis are in the bundle, files of threads are not.
    const said = node([outfile], { cwd: folder, env: { STORE: store } })
    assert.match(said, /^allowed true, fence true, refused: .*--external:catraca/)
  })
  symlinkSync(installed, join(folder, 'node_modules'))
  assert.match(
    node([outfile], { cwd: folder, env: { STORE: 'memory:' } }),
    /^allowed true, fence true, imported 2$/m,
  )
}
