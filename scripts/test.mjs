// Runs the compiled tests, and fails when a test fails or none ran. `npm test` runs all; `node scripts/test.mjs cli
// import` runs files whose path contains one of the words; `node scripts/test.mjs --quick` runs the selection of `npm
// run test:quick`, about a minute.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { finished } from 'node:stream/promises'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { fileURLToPath } from 'node:url'
import { ensureChromium } from './ensure-chromium.mjs'
import { ensureEmulators } from './ensure-emulators.mjs'
import { ensurePostgres } from './ensure-postgres.mjs'
import { ensurePromtool } from './ensure-promtool.mjs'
import { ensureRedisServer } from './ensure-redis.mjs'
import { processorSeconds } from './processor-seconds.cjs'

/** More than the cores of a small machine: many tests wait for servers and processes that they started. */
const FILES_AT_ONCE = 5
const FILE_TIMEOUT_MS = 10 * 60_000
/** Of the slowest files, and of those that use the most processor time. */
const FILES_SHOWN = 10

/** Pure algorithms, and the conformance of the engine that needs no server. */
const QUICK = [
  /^architecture/,
  /^config\//,
  /^engines\/embedded\/.*conformance/,
  /^engines\/(dynamodb\/(codec|layout)|redis\/connection-coalescer)\./,
  /^guards\/allowlist\/(wave|import-)/,
  /^guards\/allowlist\/membership\/(fuse|hash|page|overlay)/,
  /^guards\/idempotency\/canonical/,
  /^guards\/rate-limit\/algorithms/,
]

/** The longest files start first, so that no core is idle at the end. */
const FIRST = [
  'engines/dynamodb/ttl',
  'console/',
  'proofs/',
  'engines/dynamodb/conformance-bulk',
  'engines/dynamodb/reshard',
  'engines/dynamodb/cost',
]

const root = fileURLToPath(new URL('..', import.meta.url))
const tests = join(root, 'dist', 'test')

function findTests(directory) {
  if (!existsSync(directory)) return []
  return readdirSync(directory, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.test.js'))
    .map((entry) => relative(tests, join(entry.parentPath ?? entry.path, entry.name)))
    .sort()
}

const words = process.argv.slice(2)
const isWanted = words.includes('--quick')
  ? (file) => QUICK.some((pattern) => pattern.test(file))
  : (file) => words.length === 0 || words.some((word) => file.includes(word))
const rank = (file) => {
  const place = FIRST.findIndex((word) => file.includes(word))
  return place < 0 ? FIRST.length : place
}
const files = findTests(tests)
  .filter(isWanted)
  .sort((a, b) => rank(a) - rank(b))
if (files.length === 0) {
  console.error(`no tests found in ${tests}: run "npm run build" first`)
  process.exit(1)
}

if (files.some((file) => /redis|dict|proofs/.test(file))) ensureRedisServer()
if (files.some((file) => readFileSync(join(tests, file), 'utf8').includes('dynamodb'))) ensureEmulators()
if (files.some((file) => /^console|browser/.test(file))) ensureChromium()
if (files.some((file) => file.includes('dict-example'))) ensurePostgres()
if (files.some((file) => file.startsWith('deploy'))) ensurePromtool()

// Inherited by processes that tests start. A name that begins with CATRACA_ would be taken for a setting.
const MARK = `TEST_RUN=${process.pid}`
process.env.TEST_RUN = String(process.pid)

// The processes of test files are started with the options of this one.
const temporary = mkdtempSync(join(tmpdir(), 'test-run-'))
const processorTimes = join(temporary, 'processor-times')
writeFileSync(processorTimes, '')
process.env.TEST_PROCESSOR_TIME = processorTimes
process.execArgv.push('--require', join(root, 'scripts', 'report-processor-time.cjs'))

const reporter = new spec()
reporter.pipe(process.stdout)

/** Runs one file, prints its output when it ends, and returns how many tests passed and failed. */
async function runFile(file) {
  const path = join(tests, file)
  const startedAt = performance.now()
  const events = []
  const count = { passed: 0, failed: 0 }
  for await (const event of run({ files: [path], timeout: FILE_TIMEOUT_MS })) {
    const { details, name, skip, todo } = event.data
    // The diagnostics are figures of this file alone. All other events are kept: an error outside of a test appears
    // nowhere else.
    if (event.type !== 'test:diagnostic') events.push(event)
    else if (/error|warning/i.test(event.data.message)) console.error(`${file}: ${event.data.message}`)
    if (event.type === 'test:fail') {
      // Only this event reports how the process of a file ended when all its tests passed.
      const { exitCode, signal } = details.error ?? {}
      if (name === path) console.error(`${file} ended with ${signal ?? `code ${exitCode}`}`)
      if (details.type !== 'suite' && todo === undefined) count.failed++
    } else if (event.type === 'test:pass') {
      // A file is reported as a test only when it contains none, which means that tests are missing.
      if (name === path) {
        console.error(`${file} ran no test`)
        count.failed++
      } else if (details.type !== 'suite' && skip === undefined && todo === undefined) count.passed++
    }
  }
  for (const event of events) reporter.write(event)
  return { file, ...count, seconds: (performance.now() - startedAt) / 1000 }
}

async function runFiles(these) {
  const queue = [...these]
  const results = []
  const runQueue = async () => {
    for (let file = queue.shift(); file !== undefined; file = queue.shift()) results.push(await runFile(file))
  }
  await Promise.all(Array.from({ length: FILES_AT_ONCE }, runQueue))
  return results
}

const startedAt = performance.now()
const results = await runFiles(files)
reporter.end()
await finished(reporter)

/**
 * A failed test may leave processes behind, even suspended ones, which would keep a core or the output busy for ever.
 */
function killLeftovers() {
  for (const pid of existsSync('/proc') ? readdirSync('/proc').filter((name) => /^\d+$/.test(name)) : []) {
    try {
      if (!readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(MARK)) continue
      const command = readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ')
      process.kill(Number(pid), 'SIGKILL')
      console.log(`left behind, and killed: ${command}`)
    } catch {
      // The process ended meanwhile, or belongs to another user.
    }
  }
}
killLeftovers()

const minutes = (seconds) => `${(seconds / 60).toFixed(1)} minutes`
const failing = results.filter(({ failed }) => failed > 0)
if (failing.length > 0) console.log(`\nfailed:\n${failing.map(({ file }) => `  ${file}\n`).join('')}`)

function printMost(title, rows) {
  console.log(`\n${title}:`)
  const most = rows.toSorted((a, b) => b.seconds - a.seconds).slice(0, FILES_SHOWN)
  for (const { file, seconds } of most) console.log(`  ${seconds.toFixed(1).padStart(6)} s  ${file}`)
}
printMost('slowest files', results)
const reported = readFileSync(processorTimes, 'utf8').split('\n').slice(0, -1)
rmSync(temporary, { recursive: true })
printMost(
  'most processor time',
  reported.map((line) => {
    const [path, seconds] = line.split('\t')
    return { file: relative(tests, path), seconds: Number(seconds) }
  }),
)
const used = processorSeconds()
const processor = used === undefined ? '' : `, ${minutes(used)} of processor time`
console.log(`${files.length} files in ${minutes((performance.now() - startedAt) / 1000)}${processor}`)

const sum = (what) => results.reduce((total, result) => total + result[what], 0)
console.log(`${sum('passed')} passed, ${sum('failed')} failed`)
process.exitCode = sum('failed') > 0 || sum('passed') === 0 ? 1 : 0
// A handle that a test left open must not keep the run alive.
process.stdout.write('', () => process.exit())
