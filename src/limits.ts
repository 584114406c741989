import type { Clock } from './clock.js'
import { type EngineSource, isSameStore, openEngine, type StoreEngine } from './open-engine.js'
import { RateLimits } from './rate-limit/limits.js'
import { DEFAULT_LIMITS, type LimitOptions } from './rate-limit/options.js'

export interface OpenLimitsOptions extends Partial<LimitOptions> {
  /** A store URL, when limits are kept elsewhere than the rest. */
  store?: string
}

export interface OpenedLimits {
  limits: RateLimits
  /** The engine that was opened for limits alone. */
  own: StoreEngine | undefined
  close(): Promise<void>
}

interface Surroundings {
  /** The engine of everything else, and what it was opened from. */
  engine: StoreEngine
  source: EngineSource
  sourceOf: (store: string) => EngineSource
  clock: Clock
  /** 0: only when asked. */
  sweepIntervalMs: number
  report: (message: string, error: unknown) => void
}

/** Rate limits over their engine, swept in the background. */
export async function openLimits(
  options: OpenLimitsOptions = {},
  around: Surroundings,
): Promise<OpenedLimits> {
  const { store, ...given } = options
  const { clock, report, sweepIntervalMs } = around
  const own = await openOwn(store, around)
  const { limits: engine } = own ?? around.engine
  const limits = new RateLimits({ engine, clock, options: { ...DEFAULT_LIMITS, ...given }, report })
  const sweep = () =>
    void limits.sweep().catch((error) => report('what limits leave behind could not be swept', error))
  const timer = sweepIntervalMs === 0 ? undefined : setInterval(sweep, sweepIntervalMs).unref()
  return {
    limits,
    own,
    async close() {
      clearInterval(timer)
      await limits.close()
      await own?.close()
    },
  }
}

async function openOwn(store: string | undefined, around: Surroundings): Promise<StoreEngine | undefined> {
  if (store === undefined) return undefined
  const source = around.sourceOf(store)
  if (isSameStore(source, around.source)) return undefined
  const engine = await openEngine(source)
  for (const warning of engine.warnings) around.report(warning, undefined)
  return engine
}
