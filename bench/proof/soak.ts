/**
 * One server process under everything at once for a long time: lists that grow and shrink (add, remove, import, replace,
 * create, delete), one-time codes and revocations through its API, beside a steady load of checks, limits, idempotency,
 * locks, tokens and cache. Samples its memory after collections, and tells the slope behind the warm-up.
 * Arguments: --seconds 600 --rate 500 --batch 2000 --sampleSeconds 5 [embedded|redis|dynamodb]
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { seeded } from '../../src/cli/load/arrivals.js'
import { numberedCustomers } from '../../src/cli/load/customers.js'
import { measure } from '../../src/cli/load/measure.js'
import type { MixContext } from '../../src/cli/load/mixes/mix.js'
import { mixesOf, openMix, parseMix } from '../../src/cli/load/mixes/table.js'
import { originOf } from '../../src/cli/load/origin.js'
import { prepare } from '../../src/cli/load/prepare.js'
import type { LoadResult } from '../../src/cli/load/result.js'
import { httpTarget } from '../../src/cli/remote/target.js'
import { createClient } from '../../src/client/index.js'
import { numberArguments } from '../support/arguments.js'
import { LOAD_STORES, type LoadStore, withServer } from '../support/load-stores.js'
import { demand, type Figures } from '../support/proof.js'
import { report } from '../support/report.js'
import type { Served } from '../support/served.js'
import { type Lane, SoakLanes } from '../support/soak-lanes.js'
import { type Point, trendOf } from '../support/trend.js'

const SIZES = { seconds: 600, rate: 500, batch: 2000, sampleSeconds: 5 }
const MIX = 'source=50,limits=15,idempotency=15,locks=10,tokens=5,cache=5'
/** So few that what is kept of them is all there when the slope begins. */
const MEMBERS = 2000
const KEYS = 500
const MIB = 1024 * 1024
/** Compilers and caches take their share first. */
const WARM_UP_SHARE = 0.4
const FEWEST_SAMPLES = 8
/** From here on a run is long enough to judge. */
const JUDGED_FROM_SECONDS = 300
const FLAT_SHARE = 0.1
/** Between two pieces of the same work: the process is busy, not drowned. */
const REST_MS: Record<Lane, number> = {
  ...{ addAndRemove: 20, tide: 1000, replace: 1500, createAndDelete: 1000, codes: 50, revocations: 20 },
}

type Sizes = typeof SIZES

export async function run(given: Partial<Sizes>, store: LoadStore = 'embedded'): Promise<Figures> {
  const sizes = { ...SIZES, ...given }
  return withServer(store, undefined, (server) => soak(server, sizes), { isWatched: true })
}

async function soak(server: Served, sizes: Sizes): Promise<Figures> {
  const { seconds, rate } = sizes
  const target = httpTarget(server.url, () => undefined)
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
  const until = performance.now() + 1000 * seconds
  const names = Object.keys(lanes.lanes) as Lane[]
  const [result, samples, ...counts] = await Promise.all([
    measure({ origin: context.origin, plan, warmUpMs: 0, mix: MIX, next: openMix(mixes, context) }),
    sampleMemory(server, until, sizes.sampleSeconds),
    ...names.map((name) => repeat(lanes.lanes[name], REST_MS[name], until)),
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
    ...memoryFigures(samples, seconds),
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
}

async function sampleMemory(server: Served, until: number, everySeconds: number): Promise<MemorySample[]> {
  const samples: MemorySample[] = []
  // On a busy machine few samples fit into a short run, which ends a little later then.
  while (performance.now() < until || samples.length < FEWEST_SAMPLES) {
    const { rss, heapUsed, external, anonymousBytes } = await server.memory()
    samples.push({
      ...{ seconds: performance.now() / 1000, anonymousBytes, residentBytes: rss },
      ...{ heapBytes: heapUsed, externalBytes: external },
    })
    await sleep(1000 * everySeconds)
  }
  return samples
}

function memoryFigures(samples: MemorySample[], seconds: number): Figures {
  const later = samples.slice(Math.floor(samples.length * WARM_UP_SHARE))
  demand(later.length >= 3, 'too few samples for a slope: take a longer run, or sample more often')
  const kinds: Record<string, (sample: MemorySample) => number> = {
    'live heap': ({ heapBytes }) => heapBytes,
    'outside the heap': ({ externalBytes }) => externalBytes,
    'RSS without files': ({ anonymousBytes }) => anonymousBytes,
    'RSS with files': ({ residentBytes }) => residentBytes,
  }
  const figures: Figures = { 'memory samples behind the warm-up': later.length }
  for (const [name, of] of Object.entries(kinds)) {
    const points: Point[] = later.map((sample) => ({ seconds: sample.seconds, value: of(sample) / MIB }))
    const { mean, perHour, share } = trendOf(points)
    figures[`${name}: mean MiB`] = mean
    figures[`${name}: slope MiB/h`] = perHour
    figures[`${name}: grown, share of the mean`] = share
    // Mapped files come and go with the system's mood, so RSS is only told.
    const isJudged =
      seconds >= JUDGED_FROM_SECONDS && name !== 'RSS with files' && name !== 'outside the heap'
    const grew = `${(100 * share).toFixed(1)} %`
    demand(!isJudged || share <= FLAT_SHARE, `${name} is not flat: ${grew} of growth behind the warm-up`)
  }
  return figures
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values, positionals } = numberArguments(SIZES)
  const store = LOAD_STORES.find((kind) => positionals.includes(kind)) ?? 'embedded'
  const figures = await run(values, store)
  report({ name: 'proof-soak', rounds: 1, setting: { ...values, store }, figures, ratios: {} })
}
