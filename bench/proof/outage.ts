/**
 * Checks at a steady rate go on while the store is away for minutes, from what memory last knew: none fails, and none
 * waits. When the store is back, it gets no more than twice its normal load. On Redis and DynamoDB, whose process is stopped:
 * that is worse than a refused connection, because nothing says that it is away.
 * `--judgeTimes 0` on a machine that does other work: times are told then, and so is what a check takes of the processor.
 * Arguments: --seconds 600 --checksPerSecond 5000 --members 20000 --judgeTimes 1 [redis] [dynamodb]
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Catraca, type OpenOptions, openCatraca } from '../../src/app/open-catraca.js'
import { Histogram } from '../../src/cli/load/histogram.js'
import { makeTables } from '../../test/support/dynamodb-engine.js'
import { startFaultProxy } from '../../test/support/dynamodb-faults.js'
import { CREDENTIALS, startDynamo } from '../../test/support/dynamodb-server.js'
import { startSingle } from '../../test/support/redis/index.js'
import { numberArguments } from '../support/arguments.js'
import { demand, type Figures, lines } from '../support/proof.js'
import { report } from '../support/report.js'

const SIZES = { seconds: 600, checksPerSecond: 5000, members: 20_000, judgeTimes: 1 }
const TICK_MS = 5
const LISTS = ['outage', 'wave']
/** Some time before and after, of which the store's load is compared. */
const WINDOW_MS = 8000
const LONGEST_LAG_MS = 500
/** Where times are not judged: in the end memory must be fresh again. */
const PATIENCE_MS = 60_000
const MOST_MS = 5
const MOST_LOAD = 2

interface Store {
  options: OpenOptions
  /** Requests to the store so far. Redis, which counts them itself, cannot be asked while it is away. */
  requests(): Promise<number>
  countsWhileAway: boolean
  pause(): void
  resume(): void
  close(): Promise<void>
}

const STORES: Record<string, () => Promise<Store>> = {
  async redis() {
    const redis = await startSingle()
    const [server] = redis.servers
    return {
      options: { store: redis.storeUrl },
      countsWhileAway: false,
      requests: async () =>
        Number(/total_commands_processed:(\d+)/.exec(String(await server!.say('INFO', 'stats')))?.[1]),
      pause: () => server!.pause(),
      resume: () => server!.resume(),
      close: () => redis.stop(),
    }
  },
  async dynamodb() {
    const server = await startDynamo()
    const { names } = await makeTables(server)
    const proxy = await startFaultProxy(server.endpoint)
    const [target, own] = [encodeURIComponent(server.endpoint), encodeURIComponent(proxy.endpoint)]
    const operations = [
      'GetItem',
      'Query',
      'BatchGetItem',
      'PutItem',
      'UpdateItem',
      'TransactWriteItems',
      'Scan',
    ]
    return {
      options: {
        store: server.url(names).replace(target, own),
        // No relay runs here, so the logs are taken as complete.
        dynamodb: { credentials: CREDENTIALS, probeIntervalMs: 0 },
      },
      countsWhileAway: true,
      requests: async () => operations.reduce((sum, operation) => sum + proxy.seen(operation), 0),
      pause: () => server.pause(),
      resume: () => server.resume(),
      close: () => server.stop(),
    }
  },
}

export async function run(given: Partial<typeof SIZES>, stores = Object.keys(STORES)): Promise<Figures> {
  const sizes = { ...SIZES, ...given }
  const figures: Figures = {}
  for (const name of stores) {
    const store = await STORES[name]!()
    try {
      for (const [figure, value] of Object.entries(await suffer(store, sizes)))
        figures[`${name}: ${figure}`] = value
    } finally {
      await store.close()
    }
  }
  return figures
}

async function suffer(
  store: Store,
  { seconds, checksPerSecond, members, judgeTimes }: typeof SIZES,
): Promise<Figures> {
  const catraca = await openCatraca({
    ...store.options,
    onUnavailable: 'last-known',
    sweepIntervalMs: 10_000,
  })
  try {
    await prepare(catraca, members)
    const load = new Load(catraca, checksPerSecond, members)
    await sleep(Math.min(WINDOW_MS, 1000 * seconds))
    const windowMs = Math.min(WINDOW_MS, 500 * seconds)
    const atFirst = await store.requests()
    await sleep(windowMs)
    const atStop = await store.requests()
    const normal = atStop - atFirst
    load.begin()
    const awayAtMs = performance.now()
    store.pause()
    const before = process.cpuUsage()
    await sleep(1000 * seconds)
    const used = process.cpuUsage(before)
    const { checks, degraded } = load.counts
    // What Redis finds in its sockets when it goes on counts as recovery; it had counted nothing since.
    const atReturn = store.countsWhileAway ? await store.requests() : atStop
    const backAtMs = performance.now()
    store.resume()
    await sleep(windowMs)
    const recovery = (await store.requests()) - atReturn
    const isWell = () => load.degradedAtMs.last < performance.now() - windowMs / 2
    const patientMs = judgeTimes === 1 ? 0 : PATIENCE_MS
    for (const untilMs = performance.now() + patientMs; !isWell() && performance.now() < untilMs; )
      await sleep(100)
    const wasWell = isWell()
    await load.end()
    demand(wasWell, 'answers stay degraded')
    // Of the recovery too.
    const { errors, times } = load.counts
    const p99 = times.percentile(0.99)
    const figures = {
      ...{
        checks,
        checksPerSecond: (1000 * checks) / (backAtMs - awayAtMs),
        degraded,
        errors,
        p99Ms: p99,
        p999Ms: times.percentile(0.999),
        longestMs: times.percentile(1),
        firstDegradedAfterMs: load.degradedAtMs.first - awayAtMs,
        lastDegradedAfterMs: Math.max(0, load.degradedAtMs.last - backAtMs),
        processorUsPerCheck: (used.user + used.system) / checks,
      },
      ...{ normalRequestsPerSecond: (1000 * normal) / windowMs, recoveryTimesNormal: recovery / normal },
    }
    demand(errors === 0, `${errors} checks failed`)
    demand(degraded > 0, 'no answer was degraded')
    return figures
  } finally {
    await catraca.close()
  }
}

async function prepare({ allowlists }: Catraca, members: number): Promise<void> {
  await allowlists.create({ id: 'outage', name: 'Outage', type: 'FIXA' })
  const config = { strategy: 'PERCENTAGE', percentage: 0.5 } as const
  await allowlists.create({ id: 'wave', name: 'Wave', type: 'ONDA', config })
  const ids = Array.from({ length: members }, (_, i) => `member-${i}`)
  await allowlists.import('outage', lines(ids), { format: 'text' })
  await allowlists.rebuild('outage')
  await allowlists.check('member-0', LISTS)
}

/** Checks at a steady rate, half of them of members. */
class Load {
  private readonly timer: NodeJS.Timeout
  private readonly pending = new Set<Promise<unknown>>()
  private sent = 0
  private readonly beganMs = performance.now()
  counts = { checks: 0, degraded: 0, errors: 0, times: new Histogram() }
  readonly degradedAtMs = { first: Number.POSITIVE_INFINITY, last: 0 }

  constructor(
    private readonly catraca: Catraca,
    private readonly perSecond: number,
    private readonly members: number,
  ) {
    this.timer = setInterval(() => this.tick(), TICK_MS)
  }

  begin(): void {
    this.counts = { checks: 0, degraded: 0, errors: 0, times: new Histogram() }
  }

  private tick(): void {
    const due = ((performance.now() - this.beganMs) * this.perSecond) / 1000
    // A machine that cannot carry the rate must not pile up checks: it makes fewer, and the result says how many.
    this.sent = Math.max(this.sent, Math.floor(due - (this.perSecond * LONGEST_LAG_MS) / 1000))
    while (this.sent < due) this.check(this.sent++)
  }

  private check(n: number): void {
    const { counts } = this
    const id = n % 2 === 0 ? `member-${n % this.members}` : `stranger-${n}`
    const beganMs = performance.now()
    const asked = this.catraca.allowlists
      .check(id, LISTS)
      .then(
        ({ degraded }) => {
          if (!degraded) return
          counts.degraded++
          this.degradedAtMs.last = performance.now()
          this.degradedAtMs.first = Math.min(this.degradedAtMs.first, this.degradedAtMs.last)
        },
        () => {
          counts.errors++
        },
      )
      .finally(() => {
        counts.checks++
        counts.times.add(performance.now() - beganMs)
        this.pending.delete(asked)
      })
    this.pending.add(asked)
  }

  async end(): Promise<void> {
    clearInterval(this.timer)
    await Promise.all(this.pending)
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values, positionals } = numberArguments(SIZES)
  for (const engine of positionals.length > 0 ? positionals : Object.keys(STORES)) {
    const figures = await run(values, [engine])
    for (const [name, value] of Object.entries(figures)) {
      if (name.endsWith('p99Ms') && values.judgeTimes === 1) demand(value < MOST_MS, `${name}: ${value} ms`)
      if (name.endsWith('recoveryTimesNormal')) demand(value <= MOST_LOAD, `${name}: ${value}`)
    }
    report({ name: `proof-outage-${engine}`, rounds: 1, setting: { ...values, engine }, figures, ratios: {} })
  }
  process.exit(0)
}
