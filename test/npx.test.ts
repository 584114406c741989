import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { temporaryDirectory } from './support/temporary.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const MAIN = 'dist/src/cli/main.js'

/** A clone with the scripts of this one, whose build only leaves a note and a command that prints where it runs. */
function clone(): { directory: string; write(path: string, content: string): void } {
  const directory = temporaryDirectory()
  const write = (path: string, content: string) => {
    mkdirSync(dirname(join(directory, path)), { recursive: true })
    writeFileSync(join(directory, path), content)
  }
  const { name, version, type, bin, scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  write('package.json', JSON.stringify({ name, version, type, bin, scripts: { prepare: scripts.prepare } }))
  for (const path of ['bin', 'scripts/prepare.mjs'])
    cpSync(join(root, path), join(directory, path), { recursive: true })
  const main = JSON.stringify("console.log('at your service')\n")
  write(
    'scripts/build.mjs',
    `import { mkdirSync, writeFileSync } from 'node:fs'
     mkdirSync('dist/src/cli', { recursive: true })
     writeFileSync('${MAIN}', ${main})
     writeFileSync('built', '')`,
  )
  return { directory, write }
}

it('`npx catraca` in a clone builds what was never built, and leaves alone what was', async () => {
  const { directory, write } = clone()
  const npx = async () => {
    const { npm_command: _, ...env } = process.env
    const cached = { ...env, npm_config_cache: join(directory, 'cache'), npm_config_offline: 'true' }
    const { stdout } = await promisify(execFile)('npx', ['catraca'], { cwd: directory, env: cached })
    rmSync(join(directory, 'cache'), { recursive: true })
    return { stdout, built: existsSync(join(directory, 'built')) }
  }
  assert.deepEqual(await npx(), { stdout: 'at your service\n', built: true })
  rmSync(join(directory, 'built'))
  write(MAIN, "console.log('as it was')\n")
  assert.deepEqual(await npx(), { stdout: 'as it was\n', built: false })
})
