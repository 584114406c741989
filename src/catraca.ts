import type { ApiKeys } from './access/keys.js'
import type { AllowlistsApi } from './allowlist/api.js'
import type { Clock } from './clock.js'

export interface OpenOptions {
  /** A store URL such as `embedded:./catraca-data` or `memory:`. */
  store?: string
  clock?: Clock
}

/** All guards over their engines. */
export interface Catraca {
  readonly allowlists: AllowlistsApi
  readonly keys: ApiKeys
  /** Where the data is, without credentials. */
  readonly store: string
  health(): Promise<{ status: 'healthy' | 'unhealthy'; engines: EngineHealth[] }>
  close(): Promise<void>
}

export interface EngineHealth {
  name: string
  status: 'healthy' | 'unhealthy'
  error?: string
  [fact: string]: unknown
}
