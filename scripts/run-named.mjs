// `npm run bench -- NAME [arguments]` and `npm run proof -- NAME [arguments]`.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ensureEmulators } from './ensure-emulators.mjs'
import { ensurePromtool } from './ensure-promtool.mjs'

const FOLDERS = { bench: 'bench', proof: join('bench', 'proof') }
const root = fileURLToPath(new URL('..', import.meta.url))
const [kind, name, ...rest] = process.argv.slice(2)

if (!Object.hasOwn(FOLDERS, kind ?? '')) {
  console.error('usage: node scripts/run-named.mjs bench|proof NAME [arguments]')
  process.exit(2)
}

const source = join(root, FOLDERS[kind])
const names = existsSync(source)
  ? readdirSync(source)
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'))
      .map((file) => file.slice(0, -'.ts'.length))
      .sort()
  : []
if (name === undefined || !names.includes(name)) {
  console.error(`usage: npm run ${kind} -- NAME [arguments], where NAME is one of:`)
  for (const known of names) console.error(`  ${known}`)
  process.exit(2)
}

/** Time of the newest change below a folder, or 0 when it does not exist. */
function newest(path, ending) {
  if (!existsSync(path)) return 0
  const files = readdirSync(path, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => statSync(join(entry.parentPath ?? entry.path, entry.name)).mtimeMs)
  return Math.max(0, ...files)
}

const sources = Math.max(
  ...['src', 'bench', 'test'].map((folder) => newest(join(root, folder), '.ts')),
  newest(join(root, 'src'), '.lua'),
)
if (newest(join(root, 'dist'), '.js') < sources) {
  const { status } = spawnSync(process.execPath, [join(root, 'scripts', 'build.mjs')], { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}

// promtool is in the package of Prometheus.
if (kind === 'proof' && name === 'alerts') ensurePromtool()
// Most proofs run on every engine.
if (kind === 'proof' || /dynamodb/.test(readFileSync(join(source, `${name}.ts`), 'utf8'))) ensureEmulators()
const program = join(root, 'dist', FOLDERS[kind], `${name}.js`)
const { status, signal } = spawnSync(process.execPath, [program, ...rest], { stdio: 'inherit' })
if (signal !== null) console.error(`${name} was ended by ${signal}`)
process.exit(status ?? 1)
