// Runs the compiled tests, and fails when one fails or when none ran.
// `npm test` runs all; `node scripts/test.mjs cli import` those whose path holds one of the words.
import { existsSync, readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { fileURLToPath } from 'node:url'
import { ensureChromium } from './ensure-chromium.mjs'
import { ensurePostgres } from './ensure-postgres.mjs'
import { ensurePromtool } from './ensure-promtool.mjs'
import { ensureRedisServer } from './ensure-redis.mjs'

const FILES_AT_ONCE = 3
const FILE_TIMEOUT_MS = 5 * 60_000

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

let passed = 0
let failed = 0
const stream = run({ files, concurrency: FILES_AT_ONCE, timeout: FILE_TIMEOUT_MS })
stream.on('test:pass', ({ details, name, skip, todo }) => {
  // A file is reported as a test of its own only when it holds none: then something is not run that should be.
  if (files.includes(name)) {
    console.error(`${name} ran no test`)
    failed++
  } else if (details.type !== 'suite' && skip === undefined && todo === undefined) passed++
})
stream.on('test:fail', ({ details, name, todo }) => {
  // Nobody else says how a file ended whose tests all passed.
  if (files.includes(name)) {
    const { exitCode, signal } = details.error ?? {}
    console.error(`${name} ended with ${signal ?? `code ${exitCode}`}`)
  }
  if (details.type !== 'suite' && todo === undefined) failed++
})
stream.compose(spec).pipe(process.stdout)
stream.on('end', () => {
  process.exitCode = failed > 0 || passed === 0 ? 1 : 0
})
process.on('exit', () => console.log(`${passed} passed, ${failed} failed`))
