import { resolve } from 'node:path'
import type { Clock } from './clock.js'
import { parseStoreUrl } from './config/store-url.js'
import { type EmbeddedEngine, type EmbeddedOptions, openEmbedded } from './engines/embedded/index.js'
import { CatracaError } from './errors.js'
import { RateLimits } from './rate-limit/limits.js'
import { DEFAULT_LIMITS, type LimitOptions } from './rate-limit/options.js'
import type { LimitEngine } from './rate-limit/port.js'

export interface OpenLimitsOptions extends Partial<LimitOptions> {
  /** A store URL, when limits are kept elsewhere than the rest. */
  store?: string
}

export interface OpenedLimits {
  limits: RateLimits
  close(): Promise<void>
}

interface Surroundings {
  /** The engine of everything else, and what it was opened with. */
  engine: EmbeddedEngine
  engineOptions: EmbeddedOptions
  clock: Clock
  /** 0: only when asked. */
  sweepIntervalMs: number
  report: (message: string, error: unknown) => void
}

/** Rate limits over their engine, swept in the background. */
export function openLimits(options: OpenLimitsOptions = {}, around: Surroundings): OpenedLimits {
  const { store, ...given } = options
  const { clock, report, sweepIntervalMs } = around
  const own = store === undefined ? undefined : openLimitEngine(store, around.engineOptions)
  const engine = own?.engine ?? around.engine.limits
  const limits = new RateLimits({ engine, clock, options: { ...DEFAULT_LIMITS, ...given }, report })
  const sweep = () =>
    void limits.sweep().catch((error) => report('what limits leave behind could not be swept', error))
  const timer = sweepIntervalMs === 0 ? undefined : setInterval(sweep, sweepIntervalMs).unref()
  return {
    limits,
    async close() {
      clearInterval(timer)
      await limits.close()
      await own?.close()
    },
  }
}

function openLimitEngine(
  store: string,
  engineOptions: EmbeddedOptions,
): { engine: LimitEngine; close(): Promise<void> } {
  const url = parseStoreUrl(store)
  if (url.engine !== 'embedded' && url.engine !== 'memory') {
    throw new CatracaError('STORE_UNSUPPORTED', `limits cannot be kept in ${url.engine} in this version`)
  }
  const { directory: _, ...others } = engineOptions
  const opened = openEmbedded(url.engine === 'memory' ? others : { ...others, directory: resolve(url.path) })
  return { engine: opened.limits, close: () => opened.close() }
}
