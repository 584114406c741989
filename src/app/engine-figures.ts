import { type Bounds, CoalescedRead } from '../core/coalesced-read.js'
import type { Durations } from '../core/figures.js'
import type { Engine, EngineFigures } from '../engines/engine.js'
import type { Circuit } from './circuit.js'
import type { Circuits } from './circuits.js'
import type { EngineCalls } from './engine-calls.js'
import type { HealthReads } from './health.js'
import type { OpenStore } from './stores.js'

/**
 * Many readers may read metrics often: each engine is queried at most this often, and no reader waits for an
 * engine that hangs.
 */
const BOUNDS = { maxAgeMs: 5000, timeoutMs: 1000 }

export type StoreFigures = EngineFigures & Pick<OpenStore, 'holdsCache'>

/** Figures of the engines, for metrics. */
export class EngineFiguresReader {
  private readonly readings = new Map<Engine, CoalescedRead<EngineFigures>>()

  constructor(
    private readonly stores: () => readonly OpenStore[],
    private readonly looks: HealthReads,
    private readonly of: { readonly calls: EngineCalls; readonly circuits: Circuits },
    private readonly bounds: Bounds = BOUNDS,
  ) {}

  /** The engine calls and their outcomes. */
  get calls(): EngineCalls {
    return this.of.calls
  }

  /** Of each engine and capability: whether it is asked, and how many calls were refused because it is not. */
  circuits(): readonly Circuit[] {
    return this.of.circuits.rows()
  }

  /** Whether each engine answered its last health query. */
  async up(): Promise<{ engine: string; store: string; isUp: boolean }[]> {
    const { engines } = await this.looks.health(this.bounds)
    return engines.map(({ name, store, status }) => ({ engine: name, store, isUp: status === 'healthy' }))
  }

  connectionFailures(): Map<string, number> {
    const failures = new Map<string, number>()
    for (const { engine } of this.stores()) {
      failures.set(engine.name, (failures.get(engine.name) ?? 0) + (engine.connectionFailures?.() ?? 0))
    }
    return failures
  }

  /** Of all Redis servers together. A command may appear once per store. */
  commandTimes(): (readonly [command: string, times: Durations])[] {
    return this.stores().flatMap(({ engine }) => [...(engine.commandTimes?.() ?? [])])
  }

  /** Figures of each engine that answers in time. Earlier values are not repeated, because they may be outdated. */
  async figures(): Promise<StoreFigures[]> {
    const all = await Promise.all(
      this.stores().map(async ({ engine, holdsCache }) => {
        const figures = await this.figuresOf(engine)
        return figures && { ...figures, holdsCache }
      }),
    )
    return all.filter((figures) => figures !== undefined)
  }

  private async figuresOf(engine: Engine): Promise<EngineFigures | undefined> {
    let shared = this.readings.get(engine)
    if (shared === undefined) {
      shared = new CoalescedRead(() => figuresNow(engine))
      this.readings.set(engine, shared)
    }
    const look = await shared.read(this.bounds)
    return 'value' in look ? look.value : undefined
  }
}

async function figuresNow(engine: Engine): Promise<EngineFigures> {
  try {
    return (await engine.figures?.()) ?? {}
  } catch {
    return {}
  }
}
