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

/** Runs files, and says of each how many of its tests passed and failed. */
async function runFiles(these, filesAtOnce) {
  const counts = new Map(these.map((file) => [file, { passed: 0, failed: 0 }]))
  const stream = run({ files: these, concurrency: filesAtOnce, timeout: FILE_TIMEOUT_MS })
  stream.on('test:pass', ({ details, file, name, skip, todo }) => {
    // A file is reported as a test of its own only when it holds none: then something is not run that should be.
    if (these.includes(name)) {
      console.error(`${name} ran no test`)
      counts.get(name).failed++
    } else if (details.type !== 'suite' && skip === undefined && todo === undefined) counts.get(file).passed++
  })
  stream.on('test:fail', ({ details, file, name, todo }) => {
    // Nobody else says how a file ended whose tests all passed.
    if (these.includes(name)) {
      const { exitCode, signal } = details.error ?? {}
      console.error(`${name} ended with ${signal ?? `code ${exitCode}`}`)
    }
    if (details.type !== 'suite' && todo === undefined)
      counts.get(these.includes(name) ? name : file).failed++
  })
  const shown = stream.compose(spec)
  shown.pipe(process.stdout)
  await finished(shown)
  return counts
}

const counts = await runFiles(files, FILES_AT_ONCE)
const failing = [...counts].filter(([, { failed }]) => failed > 0).map(([file]) => file)
// Many tests start servers and wait for them: on a machine that is too busy a few come too late. What is wrong fails
// again. More than a few is no bad luck.
if (failing.length > 0 && failing.length <= SECOND_TRIES) {
  console.log(
    `\nfailed, and tried again one by one:\n${failing.map((file) => `  ${relative(root, file)}`).join('\n')}\n`,
  )
  for (const [file, again] of await runFiles(failing, 1)) counts.set(file, again)
}

const sum = (what) => [...counts.values()].reduce((total, count) => total + count[what], 0)
process.exitCode = sum('failed') > 0 || sum('passed') === 0 ? 1 : 0
console.log(`${sum('passed')} passed, ${sum('failed')} failed`)
