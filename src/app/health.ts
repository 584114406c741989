import { redactStoreUrl } from '../config/store-url.js'
import { type Bounds, CoalescedRead } from '../core/coalesced-read.js'
import { fieldsOf, KnownFields } from '../core/fields.js'
import type { StoreEngine } from './open-engine.js'
import type { OpenStore } from './stores.js'

export interface EngineHealth {
  name: string
  /** Where its data is, without credentials. */
  store: string
  status: 'healthy' | 'unhealthy'
  error?: string
  [fact: string]: unknown
}

export interface Health {
  status: 'healthy' | 'unhealthy'
  engines: EngineHealth[]
}

const DEFAULT_HEALTH: Bounds = { maxAgeMs: 1000, timeoutMs: 2000 }

const KNOWN_BOUNDS = new KnownFields(fieldsOf(DEFAULT_HEALTH))

type Facts = () => Record<string, unknown>

/** Health of the engines. Each is read separately, so that an engine that hangs does not hide the others. */
export class HealthReads {
  private readonly reads = new Map<StoreEngine, CoalescedRead<EngineHealth>>()

  /** `factsOf`: facts to add to what an engine reports itself. */
  constructor(
    private readonly stores: () => readonly OpenStore[],
    private readonly factsOf: (engine: StoreEngine) => Facts | undefined,
  ) {}

  async health(bounds: Partial<Bounds> = {}): Promise<Health> {
    KNOWN_BOUNDS.check(bounds)
    const engines = await Promise.all(
      this.stores().map((open) => this.engine(open, { ...DEFAULT_HEALTH, ...bounds })),
    )
    const isHealthy = engines.every(({ status }) => status === 'healthy')
    return { status: isHealthy ? 'healthy' : 'unhealthy', engines }
  }

  private async engine({ engine, store }: OpenStore, bounds: Bounds): Promise<EngineHealth> {
    const told = { name: engine.name, store: redactStoreUrl(store) }
    let shared = this.reads.get(engine)
    if (shared === undefined) {
      shared = new CoalescedRead(() => askEngine(engine, told))
      this.reads.set(engine, shared)
    }
    const look = await shared.read(bounds)
    const facts = this.factsOf(engine)?.() ?? {}
    if ('value' in look) return { ...look.value, ...facts }
    const error = `no answer within ${Math.round(look.forMs)} ms`
    return { ...told, status: 'unhealthy', error, ...facts }
  }
}

async function askEngine(engine: StoreEngine, told: { name: string; store: string }): Promise<EngineHealth> {
  try {
    return { ...told, status: 'healthy', ...(await engine.health()) }
  } catch (error) {
    return { ...told, status: 'unhealthy', error: error instanceof Error ? error.message : String(error) }
  }
}
