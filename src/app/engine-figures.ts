import { type Bounds, CoalescedRead } from '../core/coalesced-read.js'
import type { Durations } from '../core/figures.js'
import type { EngineCalls } from './engine-calls.js'
import type { HealthReads } from './health.js'
import type { EngineFigures, StoreEngine } from './open-engine.js'
import type { OpenStore } from './stores.js'

/** Many may read metrics, often: engines are asked at most so often for them, and nobody waits for one that hangs. */
const BOUNDS = { maxAgeMs: 5000, timeoutMs: 1000 }

/** What engines have to tell, for whoever shows metrics. */
export class EngineFiguresReader {
  private readonly readings = new Map<StoreEngine, CoalescedRead<EngineFigures>>()

  constructor(
    private readonly stores: () => readonly OpenStore[],
    private readonly looks: HealthReads,
    /** What engines were asked, and how it ended. */
    readonly calls: EngineCalls,
    private readonly bounds: Bounds = BOUNDS,
  ) {}

  /** Whether each answered when it was last asked. */
  async up(): Promise<{ engine: string; store: string; isUp: boolean }[]> {
    const { engines } = await this.looks.health(this.bounds)
    return engines.map(({ name, store, status }) => ({ engine: name, store, isUp: status === 'healthy' }))
  }

  connectionFailures(): Map<string, number> {
    const failures = new Map<string, number>()
    for (const { engine } of this.stores()) {
      failures.set(engine.name, (failures.get(engine.name) ?? 0) + engine.connectionFailures())
    }
    return failures
  }

  /** Of all Redis servers together: a command may stand there once for each store. */
  commandTimes(): (readonly [command: string, times: Durations])[] {
    return this.stores().flatMap(({ engine }) => [...(engine.commandTimes?.() ?? [])])
  }

  /** Of each engine that tells them in time. What was known before is not repeated: it may not be so any more. */
  async figures(): Promise<EngineFigures[]> {
    const all = await Promise.all(this.stores().map(({ engine }) => this.figuresOf(engine)))
    return all.filter((figures) => figures !== undefined)
  }

  private async figuresOf(engine: StoreEngine): Promise<EngineFigures | undefined> {
    let shared = this.readings.get(engine)
    if (shared === undefined) {
      shared = new CoalescedRead(() => engine.figures().catch(() => ({})))
      this.readings.set(engine, shared)
    }
    const look = await shared.read(this.bounds)
    return 'value' in look ? look.value : undefined
  }
}
