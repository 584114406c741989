// Runs the compiled tests, and fails when one fails or when none ran.
// `npm test` runs all; `node scripts/test.mjs cli import` those whose path holds one of the words.
import { existsSync, readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { finished } from 'node:stream/promises'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { fileURLToPath } from 'node:url'
import { ensureChromium } from './ensure-chromium.mjs'
import { ensurePostgres } from './ensure-postgres.mjs'
import { ensurePromtool } from './ensure-promtool.mjs'
import { ensureRedisServer } from './ensure-redis.mjs'

const FILES_AT_ONCE = 3
const FILE_TIMEOUT_MS = 5 * 60_000
/** So many files may fail and be tried a second time. */
const SECOND_TRIES = 8

const root = fileURLToPath(new URL('..', import.meta.url))
const tests = join(root, 'dist', 'test')

function findTests(directory) {
  if (!existsSync(directory)) return []
  return readdirSync(directory, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.test.js'))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort()
}

const words = process.argv.slice(2)
const files = findTests(tests).filter(
  (file) => words.length === 0 || words.some((word) => relative(tests, file).includes(word)),
)
if (files.length === 0) {
  console.error(`no tests found in ${tests}: run "npm run build" first`)
  process.exit(1)
}

if (files.some((file) => /redis|dict/.test(relative(tests, file)))) ensureRedisServer()
if (files.some((file) => relative(tests, file).startsWith('console'))) ensureChromium()
if (files.some((file) => relative(tests, file).includes('dict-example'))) ensurePostgres()
if (files.some((file) => relative(tests, file).startsWith('deploy'))) ensurePromtool()

const reporter = new spec()
reporter.pipe(process.stdout)

/** Runs one file, shows it when it is done, and says how many of its tests passed and failed. */
async function runFile(file) {
  const events = []
  const count = { passed: 0, failed: 0 }
  for await (const event of run({ files: [file], timeout: FILE_TIMEOUT_MS })) {
    const { details, name, skip, todo } = event.data
    // A run of its own ends with figures of its own.
    if (event.type !== 'test:diagnostic') events.push(event)
    if (event.type === 'test:fail') {
      // Nobody else says how a file ended whose tests all passed.
      const { exitCode, signal } = details.error ?? {}
      if (name === file) console.error(`${name} ended with ${signal ?? `code ${exitCode}`}`)
      if (details.type !== 'suite' && todo === undefined) count.failed++
    } else if (event.type === 'test:pass') {
      // A file is reported as a test of its own only when it holds none: then something is not run that should be.
      if (name === file) {
        console.error(`${name} ran no test`)
        count.failed++
      } else if (details.type !== 'suite' && skip === undefined && todo === undefined) count.passed++
    }
  }
  for (const event of events) reporter.write(event)
  return count
}

async function runFiles(these, filesAtOnce) {
  const counts = new Map()
  const queue = [...these]
  const runQueue = async () => {
    for (let file = queue.shift(); file !== undefined; file = queue.shift())
      counts.set(file, await runFile(file))
  }
  await Promise.all(Array.from({ length: filesAtOnce }, runQueue))
  return counts
}

const counts = await runFiles(files, FILES_AT_ONCE)
const failing = [...counts].filter(([, { failed }]) => failed > 0).map(([file]) => file)
// Many tests start servers and wait for them: on a machine that is too busy a few come too late. What is wrong fails
// again. More than a few is no bad luck.
if (failing.length > 0 && failing.length <= SECOND_TRIES) {
  const names = failing.map((file) => `  ${relative(root, file)}\n`).join('')
  console.log(`\nfailed, and tried again one by one:\n${names}`)
  for (const [file, again] of await runFiles(failing, 1)) counts.set(file, again)
}
reporter.end()
await finished(reporter)

const sum = (what) => [...counts.values()].reduce((total, count) => total + count[what], 0)
process.exitCode = sum('failed') > 0 || sum('passed') === 0 ? 1 : 0
console.log(`${sum('passed')} passed, ${sum('failed')} failed`)
