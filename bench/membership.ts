import { randomBytes } from 'node:crypto'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import bloomFilters from 'bloom-filters'
import { CustomerProbe, hashKey } from '../src/guards/allowlist/membership/hash.js'
import { IndexBuilder } from '../src/guards/allowlist/membership/index-builder.js'
import type { EncodedPage } from '../src/guards/allowlist/membership/page.js'
import { PagePool } from '../src/guards/allowlist/membership/page-pool.js'
import { randomUuids, uuidAt, uuidStrings } from './support/customers.js'
import { openSnapshot } from './support/membership.js'
import { median, report } from './support/report.js'

/**
 * Membership of 5 M UUID strings, half of those asked for present: the index, a `Set`, and npm `bloom-filters`.
 * Every question is a string of its own that nobody has hashed before, as a request brings it. The rivals are asked
 * the same, in turns. `bloom-filters` is made for all customers at the index's error rate, but it takes over a minute
 * to fill: it gets a tenth of them and is asked for those, and less often. An emptier filter says no a little sooner,
 * so this is in its favour. Loops count, because an iterator over millions of strings makes garbage of its own.
 */
const CUSTOMERS = Number(process.argv[2] ?? 5_000_000)
const BLOOM_CUSTOMERS = CUSTOMERS / 10
const ROUNDS = 7
const QUESTIONS = 1_000_000
const BLOOM_QUESTIONS = 30_000
const ERROR_RATE = 2 ** -16

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

type Question = (ids: string[]) => number

const members = randomUuids(CUSTOMERS)
const strangers = randomUuids(QUESTIONS)
const key = hashKey(randomBytes(16))
const ids = uuidStrings(members, CUSTOMERS)

/** Fresh strings in the order in which they are asked for, members and strangers at random. */
function questions(count: number, customers: number): { ids: string[]; present: number } {
  let present = 0
  const asked = Array.from({ length: count }, () => {
    const isMember = Math.random() < 0.5
    if (isMember) present++
    return isMember
      ? uuidAt(members, Math.floor(Math.random() * customers))
      : uuidAt(strangers, Math.floor(Math.random() * QUESTIONS))
  })
  return { ids: asked, present }
}

async function secondsOf(work: () => unknown): Promise<number> {
  collectGarbage()
  const begin = performance.now()
  await work()
  return (performance.now() - begin) / 1000
}

function buildOnOneThread(): EncodedPage[] {
  const builder = new IndexBuilder({ key, fingerprintBits: 16 })
  for (let i = 0; i < CUSTOMERS; i++) builder.addId(ids[i]!)
  return [...builder.finish()]
}

async function buildOnTwoThreads(): Promise<EncodedPage[]> {
  const builder = new IndexBuilder({ key, fingerprintBits: 16 })
  const pool = new PagePool(builder.kind, 2)
  for (let i = 0; i < CUSTOMERS; i++) builder.addId(ids[i]!)
  const pages: EncodedPage[] = []
  for await (const page of pool.make(builder.buckets())) pages.push(page)
  await pool.close()
  return pages
}

const seconds: Record<'oneThread' | 'twoThreads' | 'load', number[]> = {
  oneThread: [],
  twoThreads: [],
  load: [],
}
let pages: EncodedPage[] = []
for (let round = 0; round < ROUNDS; round++) {
  seconds.oneThread.push(
    await secondsOf(() => {
      pages = buildOnOneThread()
    }),
  )
  seconds.twoThreads.push(await secondsOf(buildOnTwoThreads))
  seconds.load.push(await secondsOf(() => openSnapshot(pages)))
}
const snapshot = openSnapshot(pages)

const set = new Set<string>()
const setBuildSeconds = await secondsOf(() => {
  for (let i = 0; i < CUSTOMERS; i++) set.add(ids[i]!)
})
const bloom = bloomFilters.BloomFilter.create(CUSTOMERS, ERROR_RATE)
const bloomBuildSeconds = await secondsOf(() => {
  for (let i = 0; i < BLOOM_CUSTOMERS; i++) bloom.add(ids[i]!)
})

const probe = new CustomerProbe()
const RIVALS: Record<string, { count: number; customers: number; ask: Question; rates: number[] }> = {
  index: {
    count: QUESTIONS,
    customers: CUSTOMERS,
    rates: [],
    ask(asked) {
      let found = 0
      for (let i = 0; i < asked.length; i++) {
        probe.setId(asked[i]!)
        probe.hash(key)
        if (snapshot.mayContain(probe.hi, probe.lo)) found++
      }
      return found
    },
  },
  set: {
    count: QUESTIONS,
    customers: CUSTOMERS,
    rates: [],
    ask(asked) {
      let found = 0
      for (let i = 0; i < asked.length; i++) if (set.has(asked[i]!)) found++
      return found
    },
  },
  bloom: {
    count: BLOOM_QUESTIONS,
    customers: BLOOM_CUSTOMERS,
    rates: [],
    ask(asked) {
      let found = 0
      for (let i = 0; i < asked.length; i++) if (bloom.has(asked[i]!)) found++
      return found
    },
  },
}

for (let round = 0; round < ROUNDS; round++) {
  for (const [name, { count, customers, ask, rates }] of Object.entries(RIVALS)) {
    const asked = questions(count, customers)
    let found = 0
    const elapsed = await secondsOf(() => {
      found = ask(asked.ids)
    })
    if (found < asked.present || found > asked.present + 200) {
      throw new Error(`${name} found ${found} of ${asked.present}`)
    }
    rates.push(count / elapsed)
  }
}

const [indexRate, setRate, bloomRate] = [RIVALS.index, RIVALS.set, RIVALS.bloom].map((rival) =>
  median(rival!.rates),
)
report({
  name: 'membership',
  rounds: ROUNDS,
  setting: {
    customers: CUSTOMERS,
    questionsPerRound: QUESTIONS,
    bloomFiltersCustomers: BLOOM_CUSTOMERS,
    bloomFiltersQuestionsPerRound: BLOOM_QUESTIONS,
  },
  figures: {
    indexQueriesPerSecond: indexRate!,
    setQueriesPerSecond: setRate!,
    bloomFiltersQueriesPerSecond: bloomRate!,
    indexBytesPerCustomer: snapshot.sizeBytes / CUSTOMERS,
    bloomFiltersBytesPerCustomer: bloom.size / 8 / CUSTOMERS,
    indexBuildSecondsOneThread: median(seconds.oneThread),
    indexBuildSecondsTwoThreads: median(seconds.twoThreads),
    setBuildSeconds,
    bloomFiltersBuildSecondsPerMillion: (bloomBuildSeconds / BLOOM_CUSTOMERS) * 1e6,
    indexReadAndCheckPagesMs: 1000 * median(seconds.load),
  },
  ratios: {
    queriesIndexToBloomFilters: indexRate! / bloomRate!,
    queriesIndexToSet: indexRate! / setRate!,
    buildOneThreadToTwoThreads: median(seconds.oneThread) / median(seconds.twoThreads),
  },
})
