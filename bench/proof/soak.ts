/**
 * One server process under everything at once for a long time: lists that grow and shrink (add, remove, import, replace,
 * create, delete), one-time codes and revocations through its API, beside a steady load of checks, limits, idempotency,
 * locks, tokens and cache. Behind the warm-up its memory (after collections) may grow by less than 1 MB a minute, its
 * descriptors stay within 5, and what the store holds stays as it is, apart from what is kept for longer.
 * Arguments: --seconds 600 --rate 500 --batch 2000 --sampleSeconds 10 [embedded|redis|dynamodb]
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { serverTarget } from '../../src/cli/commands/support/target.js'
import { seeded } from '../../src/cli/load/arrivals.js'
import { numberedCustomers } from '../../src/cli/load/customers.js'
import { measure } from '../../src/cli/load/measure.js'
import type { MixContext } from '../../src/cli/load/mixes/mix.js'
import { mixesOf, openMix, parseMix } from '../../src/cli/load/mixes/table.js'
import { originOf } from '../../src/cli/load/origin.js'
import { prepare } from '../../src/cli/load/prepare.js'
import type { LoadResult } from '../../src/cli/load/result.js'
import { createClient } from '../../src/client/index.js'
import { connectCatraca } from '../../src/remote/index.js'
import { numberArguments } from '../support/arguments.js'
import { LOAD_STORES, type LoadStore, withServer } from '../support/load-stores.js'
import { demand, type Figures } from '../support/proof.js'
import { report } from '../support/report.js'
import type { Served } from '../support/served.js'
import { type Lane, SoakLanes } from '../support/soak-lanes.js'
import { descriptorsOf, KEPT_LONGER, type StoreKeys } from '../support/store-keys.js'
import { type Point, trendOf } from '../support/trend.js'

const SIZES = { seconds: 600, rate: 500, batch: 2000, sampleSeconds: 10 }
const MIX = 'source=50,limits=15,idempotency=15,locks=10,tokens=5,cache=5'
/** So few that what is kept of them is all there when the slope begins. */
const MEMBERS = 2000
const KEYS = 500
const MIB = 1024 * 1024
/** Compilers and caches take their share first. */
const WARM_UP_SECONDS = 180
/** Of a run that is too short to judge. */
const WARM_UP_SHARE = 0.4
const FEWEST_SAMPLES = 8
/** From here on a run is long enough to judge. */
const JUDGED_FROM_SECONDS = 400
const MOST_MIB_A_MINUTE = 1e6 / MIB
const MOST_DESCRIPTORS = 5
/** Lists grow and shrink all the time. */
const FLAT_SHARE = 0.1
/** Counting takes the store some time too. */
const KEYS_EVERY_MS = 15_000
/** Between two pieces of the same work: the process is busy, not drowned. */
const REST_MS: Record<Lane, number> = {
  ...{ addAndRemove: 20, tide: 1000, replace: 1500, createAndDelete: 1000, codes: 50, revocations: 20 },
}

/**
 * Each import and each index build has a thread of its own, with 20 to 40 MiB while it lives. So memory is measured when
 * none is there: the lanes pause, and what they began in the background has this long to end.
 */
const SETTLE_MS = 1500

type Sizes = typeof SIZES

/** Lets the lanes pass, or holds them back. */
class Gate {
  private active = 0
  private opened = Promise.resolve()

  async pass(work: () => Promise<void>): Promise<void> {
    await this.opened
    this.active++
    try {
      await work()
    } finally {
      this.active--
    }
  }

  async whileClosed<T>(work: () => Promise<T>): Promise<T> {
    let open!: () => void
    this.opened = new Promise((resolve) => {
      open = resolve
    })
    try {
      while (this.active > 0) await sleep(20)
      return await work()
    } finally {
      open()
    }
  }
}

export async function run(given: Partial<Sizes>, store: LoadStore = 'embedded'): Promise<Figures> {
  const sizes = { ...SIZES, ...given }
  return withServer(store, undefined, (server, keys) => soak(server, keys, sizes), { isWatched: true })
}

async function soak(server: Served, keys: () => Promise<StoreKeys>, sizes: Sizes): Promise<Figures> {
  const { seconds, rate } = sizes
  const target = serverTarget(connectCatraca({ url: server.url, timeoutMs: 0 }))
  const client = createClient({ url: server.url })
  const random = seeded(1)
  const context: MixContext = {
    ...{ origin: originOf(server.url, undefined), random, lists: ['load-allowlist'], runId: 'soak' },
    ...{ members: numberedCustomers(MEMBERS), keys: KEYS, cacheSpace: 'load' },
  }
  const mixes = parseMix(MIX)
  await prepare({ target, client, context, mixes: mixesOf(mixes), tell: console.log })
  const lanes = new SoakLanes(target, sizes.batch, 'soak')
  await lanes.prepare()
  const plan = {
    ...({ rate, durationMs: 1000 * seconds, arrivals: 'poisson', spin: false, random } as const),
    ...{ connections: 32, maxConnections: 256, timeoutMs: 30_000 },
  }
  const beganMs = performance.now()
  const until = beganMs + 1000 * seconds
  const names = Object.keys(lanes.lanes) as Lane[]
  const gate = new Gate()
  const [result, samples, kept, ...counts] = await Promise.all([
    measure({ origin: context.origin, plan, warmUpMs: 0, mix: MIX, next: openMix(mixes, context) }),
    sampleMemory(server, gate, until, sizes.sampleSeconds),
    sampleKeys(keys, until),
    ...names.map((name) => repeat(() => gate.pass(lanes.lanes[name]), REST_MS[name], until)),
  ])
  demandNoErrors(result)
  return {
    ...Object.fromEntries(names.map((name, i) => [name, counts[i] as number])),
    ...{
      requests: result.answered,
      errors: result.errorCount,
      'p99 ms': result.latencyMs.p99,
      'longest ms': result.latencyMs.max,
    },
    ...memoryFigures(afterWarmUp(samples, beganMs, seconds), seconds),
    ...keyFigures(afterWarmUp(kept, beganMs, seconds), seconds),
  }
}

async function repeat(work: () => Promise<void>, restMs: number, until: number): Promise<number> {
  let done = 0
  for (; performance.now() < until; done++) {
    await work()
    await sleep(restMs)
  }
  return done
}

function demandNoErrors({ errorCount, errors, statuses, operations }: LoadResult): void {
  const wrong = operations.filter((operation) => operation.errors > 0).map(({ name }) => name)
  demand(errorCount === 0, `errors under load: ${JSON.stringify([errors, statuses])} of ${wrong.join(', ')}`)
}

interface MemorySample {
  seconds: number
  anonymousBytes: number
  residentBytes: number
  heapBytes: number
  /** Outside of the heap, and held by it. */
  externalBytes: number
  descriptors: number
}

interface KeySample {
  seconds: number
  keys: StoreKeys
}

async function sampleKeys(keys: () => Promise<StoreKeys>, until: number): Promise<KeySample[]> {
  const samples: KeySample[] = []
  while (performance.now() < until) {
    samples.push({ seconds: performance.now() / 1000, keys: await keys() })
    await sleep(Math.min(KEYS_EVERY_MS, Math.max(0, until - performance.now())))
  }
  return samples
}

function afterWarmUp<S extends { seconds: number }>(all: S[], beganMs: number, seconds: number): S[] {
  const warmUp = seconds >= JUDGED_FROM_SECONDS ? WARM_UP_SECONDS : WARM_UP_SHARE * seconds
  return all.filter((sample) => sample.seconds >= beganMs / 1000 + warmUp)
}

/** `kept longer` is only told. */
function keyFigures(samples: KeySample[], seconds: number): Figures {
  if (samples.length < 2) return {}
  const figures: Figures = {}
  const sumOf = (isKept: boolean) => (keys: StoreKeys) =>
    Object.entries(keys).reduce(
      (sum, [name, count]) => sum + (KEPT_LONGER.includes(name) === isKept ? count : 0),
      0,
    )
  for (const isKept of [false, true]) {
    const name = isKept ? 'keys kept longer' : 'keys of the store'
    const points = samples.map(({ seconds, keys }): Point => ({ seconds, value: sumOf(isKept)(keys) }))
    const { mean, share } = trendOf(points)
    figures[`${name}: mean`] = mean
    figures[`${name}: grown, share of the mean`] = share
    const isJudged = !isKept && seconds >= JUDGED_FROM_SECONDS
    const told = () => `${JSON.stringify(samples[0]!.keys)} became ${JSON.stringify(samples.at(-1)!.keys)}`
    demand(!isJudged || share <= FLAT_SHARE, `the store is not flat: ${told()}`)
  }
  return figures
}

async function sampleMemory(
  server: Served,
  gate: Gate,
  until: number,
  everySeconds: number,
): Promise<MemorySample[]> {
  const samples: MemorySample[] = []
  const port = Number(new URL(server.url).port)
  // On a busy machine few samples fit into a short run, which ends a little later then.
  while (performance.now() < until || samples.length < FEWEST_SAMPLES) {
    const { rss, heapUsed, external, anonymousBytes } = await gate.whileClosed(async () => {
      await sleep(Math.min(SETTLE_MS, 1000 * everySeconds))
      return server.memory()
    })
    samples.push({
      ...{ seconds: performance.now() / 1000, anonymousBytes, residentBytes: rss },
      ...{ heapBytes: heapUsed, externalBytes: external },
      descriptors: descriptorsOf(server.pid, port),
    })
    await sleep(1000 * everySeconds)
  }
  return samples
}

function memoryFigures(later: MemorySample[], seconds: number): Figures {
  demand(later.length >= 3, 'too few samples for a slope: take a longer run, or sample more often')
  const isJudged = seconds >= JUDGED_FROM_SECONDS
  const kinds: Record<string, (sample: MemorySample) => number> = {
    'live heap': ({ heapBytes }) => heapBytes,
    'outside the heap': ({ externalBytes }) => externalBytes,
    'RSS without files': ({ anonymousBytes }) => anonymousBytes,
    'RSS with files': ({ residentBytes }) => residentBytes,
  }
  const figures: Figures = { 'memory samples behind the warm-up': later.length }
  for (const [name, of] of Object.entries(kinds)) {
    const points: Point[] = later.map((sample) => ({ seconds: sample.seconds, value: of(sample) / MIB }))
    const { mean, perHour } = trendOf(points)
    const perMinute = perHour / 60
    figures[`${name}: mean MiB`] = mean
    figures[`${name}: slope MiB/min`] = perMinute
    // Mapped files come and go with the system's mood, so RSS is only told.
    const isFree = !isJudged || name === 'RSS with files' || name === 'outside the heap'
    demand(isFree || perMinute < MOST_MIB_A_MINUTE, `${name} grows by ${perMinute.toFixed(2)} MiB a minute`)
  }
  // An import has some while it runs, so what a process has most of the time is compared.
  const third = Math.max(1, Math.floor(later.length / 3))
  const [first, last] = [middleOf(later.slice(0, third)), middleOf(later.slice(-third))]
  figures['descriptors: median of the first third'] = first
  figures['descriptors: median of the last third'] = last
  figures['descriptors: most'] = Math.max(...later.map(({ descriptors }) => descriptors))
  const isStill = Math.abs(last - first) <= MOST_DESCRIPTORS
  demand(!isJudged || isStill, `descriptors went from ${first} to ${last}`)
  return figures
}

function middleOf(samples: readonly MemorySample[]): number {
  return samples.map(({ descriptors }) => descriptors).sort((a, b) => a - b)[samples.length >> 1]!
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values, positionals } = numberArguments(SIZES)
  const store = LOAD_STORES.find((kind) => positionals.includes(kind)) ?? 'embedded'
  const figures = await run(values, store)
  report({
    name: `proof-soak-${store}`,
    rounds: 1,
    setting: { ...values, engine: store },
    figures,
    ratios: {},
  })
}
