/**
 * The command `catraca allowlist import` from CSV into an embedded store, end to end: process start, parsing,
 * sorting, members, index by customer, close. Fresh stores, then once more other customers into a filled list. The
 * yardstick is LMDB alone, given the same customers already sorted and encoded, in two databases.
 * Arguments: --customers 5000000 --rounds 3
 */
import { execFile, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { numberArguments } from './support/arguments.js'
import { randomUuids, uuidLines } from './support/customers.js'
import { anonymousBytes } from './support/memory.js'
import { median, report } from './support/report.js'

const { customers, rounds } = numberArguments({ customers: 5_000_000, rounds: 3 }).values
const CLI = fileURLToPath(new URL('../../bin/catraca.js', import.meta.url))
const YARDSTICK = fileURLToPath(new URL('./support/lmdb-load.js', import.meta.url))
const SAMPLE_MS = 50
const MIB = 1024 * 1024

interface Round {
  rate: number
  peakMiB: number
}

async function writeCsv(path: string): Promise<void> {
  const lines = function* () {
    yield Buffer.from('customerId\n')
    yield* uuidLines(randomUuids(customers))
  }
  await pipeline(Readable.from(lines()), createWriteStream(path))
}

/** Runs the command, and watches what memory it takes of its own; LMDB's map belongs to the page cache. */
async function importFile(store: string, csv: string): Promise<Round> {
  const begin = performance.now()
  const child = spawn(
    process.execPath,
    [CLI, 'allowlist', 'import', 'vip', csv, '--store', store, '--json'],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  let output = ''
  child.stdout.on('data', (chunk) => {
    output += chunk
  })
  child.stderr.resume()
  let peakBytes = 0
  const sampling = setInterval(() => {
    peakBytes = Math.max(peakBytes, anonymousBytes(child.pid!) ?? 0)
  }, SAMPLE_MS)
  const [code] = await once(child, 'close')
  const seconds = (performance.now() - begin) / 1000
  clearInterval(sampling)
  if (code !== 0) throw new Error(`the import ended with ${code}: ${output}`)
  const { added, rejected } = JSON.parse(output) as { added: number; rejected: number }
  if (added !== customers || rejected !== 0) throw new Error(`${added} added, ${rejected} rejected`)
  return { rate: customers / seconds, peakMiB: peakBytes / MIB }
}

async function catraca(...args: string[]): Promise<{ customerCount: number }> {
  const { stdout } = await promisify(execFile)(process.execPath, [CLI, ...args, '--json'])
  return JSON.parse(stdout)
}

async function expectCount(store: string, expected: number): Promise<void> {
  const { customerCount } = await catraca('allowlist', 'get', 'vip', '--store', store)
  if (customerCount !== expected) throw new Error(`the list holds ${customerCount}, not ${expected}`)
}

/** Customers a second of LMDB alone. */
async function yardstick(directory: string, csv: string): Promise<number> {
  const child = fork(YARDSTICK, [directory, csv])
  const [[rate]] = await Promise.all([once(child, 'message'), once(child, 'exit')])
  return rate as number
}

const directory = await mkdtemp(join(tmpdir(), 'catraca-bench-'))
const [csv, otherCsv] = [join(directory, 'customers.csv'), join(directory, 'others.csv')]
const fresh: Round[] = []
const filled: Round[] = []
const lmdb: number[] = []
try {
  await writeCsv(csv)
  await writeCsv(otherCsv)
  for (let round = 1; round <= rounds; round++) {
    const path = join(directory, `store-${round}`)
    const store = `embedded:${path}`
    await catraca('allowlist', 'create', '--id', 'vip', '--name', 'VIP', '--type', 'FIXA', '--store', store)
    fresh.push(await importFile(store, csv))
    await expectCount(store, customers)
    if (round === rounds) {
      filled.push(await importFile(store, otherCsv))
      await expectCount(store, 2 * customers)
    }
    await rm(path, { recursive: true })
    lmdb.push(await yardstick(join(directory, `lmdb-${round}`), csv))
    console.log(
      `round ${round}: ${Math.round(fresh.at(-1)!.rate)}/s, LMDB alone ${Math.round(lmdb.at(-1)!)}/s`,
    )
  }
} finally {
  await rm(directory, { recursive: true, force: true })
}

report({
  name: 'import',
  rounds,
  setting: { customers },
  figures: {
    'customers/s into a fresh store (target 150,000)': median(fresh.map(({ rate }) => rate)),
    'customers/s into a filled list': median(filled.map(({ rate }) => rate)),
    'peak RssAnon MiB, fresh (target 400)': Math.max(...fresh.map(({ peakMiB }) => peakMiB)),
    'peak RssAnon MiB, filled': Math.max(...filled.map(({ peakMiB }) => peakMiB)),
    'LMDB alone, sorted, customers/s': median(lmdb),
  },
  ratios: {
    'time import / LMDB alone': median(fresh.map(({ rate }, i) => lmdb[i]! / rate)),
  },
})
