import type { ApiKeys } from '../access/keys.js'
import type { AllowlistsApi } from '../allowlist/api.js'
import type { CacheApi } from '../cache/api.js'
import { storeOf } from '../config/load.js'
import type { Config } from '../config/schema.js'
import type { LimitsApi } from '../rate-limit/api.js'
import { openOptions } from './settings.js'

export type KeysApi = Pick<ApiKeys, 'create' | 'list' | 'revoke'>

/** What a command works on: a store opened here, or a server. Both give the same answers. */
export interface Target {
  readonly allowlists: AllowlistsApi
  readonly keys: KeysApi
  readonly limits: LimitsApi
  readonly cache: CacheApi
  /** Does the sweeping that a change left behind, where no server is there to do it. */
  settle(): Promise<void>
  close(): Promise<void>
}

/** A server when one is named and no store is named by flag; the store otherwise. */
export async function openTarget(config: Config, storeFlag: string | undefined): Promise<Target> {
  const { url, key } = config.client
  if (url !== undefined && storeFlag === undefined) return openServer(url, () => key.read())
  return openStore(config)
}

async function openServer(url: string, key: () => string | undefined): Promise<Target> {
  const [{ HttpTransport }, { HttpAllowlists }, { HttpKeys }, { HttpLimits }, { HttpCache }] =
    await Promise.all([
      import('./http-transport.js'),
      import('./http-client.js'),
      import('./http-keys.js'),
      import('./http-limits.js'),
      import('./http-cache.js'),
    ])
  const transport = new HttpTransport(url, key)
  return {
    allowlists: new HttpAllowlists(transport),
    keys: new HttpKeys(transport),
    limits: new HttpLimits(transport),
    cache: new HttpCache(transport),
    settle: async () => {},
    close: async () => {},
  }
}

async function openStore(config: Config): Promise<Target> {
  const { openCatraca } = await import('../catraca.js')
  const catraca = await openCatraca({
    ...openOptions(config, storeOf(config, 'allowlists')),
    // What a command leaves to sweep is swept by `settle`, or by the next server.
    sweepIntervalMs: 0,
    // One question is answered by the store before an index is even loaded.
    membership: { maxBytes: 0, build: 'off' },
  })
  return {
    allowlists: catraca.allowlists,
    keys: catraca.keys,
    limits: catraca.limits,
    cache: catraca.cache,
    settle: () => catraca.upkeep(),
    close: () => catraca.close(),
  }
}
