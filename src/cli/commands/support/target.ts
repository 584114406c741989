import { userInfo } from 'node:os'
import { storeOf } from '../../../config/load.js'
import type { Config } from '../../../config/schema.js'
import { invalid } from '../../../core/errors.js'
import type { ApiKeys } from '../../../guards/access/index.js'
import type { AllowlistsApi } from '../../../guards/allowlist/api.js'
import type { AuditApi } from '../../../guards/audit/api.js'
import { parseReason } from '../../../guards/audit/reason.js'
import type { CacheApi } from '../../../guards/cache/api.js'
import type { FleetApi } from '../../../guards/fleet/types.js'
import type { IdempotencyApi } from '../../../guards/idempotency/api.js'
import type { LocksApi } from '../../../guards/lock/api.js'
import type { CodesApi } from '../../../guards/one-time-code/api.js'
import type { LimitsApi } from '../../../guards/rate-limit/api.js'
import type { TokensApi } from '../../../guards/token-denylist/api.js'
import type { ConnectOptions, RemoteCatraca } from '../../../remote/index.js'
import { openOptions } from '../../settings.js'

/** What a command works on: a store opened in this process, or a server. Both return the same results. */
export interface Target {
  readonly allowlists: Omit<AllowlistsApi, 'resharding'>
  readonly keys: Pick<ApiKeys, 'create' | 'update' | 'list' | 'revoke' | 'unlock'>
  readonly limits: Omit<LimitsApi, 'adjust' | 'giveBack' | 'setEntity' | 'deleteEntity'>
  readonly idempotency: IdempotencyApi
  readonly codes: CodesApi
  readonly tokens: Omit<TokensApi, 'revoke'>
  readonly locks: LocksApi
  readonly cache: Omit<CacheApi, 'lease' | 'fill' | 'release'>
  readonly audit: AuditApi
  readonly fleet: FleetApi
  /** Removes what a change left behind, when no server does it. */
  settle(): Promise<void>
  close(): Promise<void>
}

/** A server when one is configured and `--store` is not given; otherwise the store. */
export async function openTarget(
  config: Config,
  storeFlag: string | undefined,
  given?: string,
): Promise<Target> {
  const { url, key } = config.client
  const reason = given === undefined ? {} : { reason: parseReason('--reason', given) }
  if (url !== undefined && storeFlag === undefined)
    return openServer({ url, key: () => key.read(), ...reason })
  return openStore(config, reason)
}

/** Modules are imported here, so that a command loads only what it needs. */
async function openServer(options: ConnectOptions): Promise<Target> {
  const { connectCatraca } = await import('../../../remote/index.js')
  return serverTarget(connectCatraca({ ...options, timeoutMs: 0 }))
}

export function serverTarget(server: RemoteCatraca): Target {
  return {
    ...server,
    keys: {
      ...server.keys,
      // A locked server accepts no call, so there is no route for this.
      unlock: async () => {
        throw invalid('--store', 'is needed: a server cannot be unlocked over HTTP')
      },
    },
    settle: async () => {},
  }
}

async function openStore(config: Config, reason: { reason?: string }): Promise<Target> {
  const { openCatraca } = await import('../../../app/open-catraca.js')
  const options = openOptions(config, storeOf(config, 'allowlists'))
  const catraca = await openCatraca({
    ...options,
    tokens: { ...options.tokens, compareIntervalMs: 0 },
    audit: { ...options.audit, actor: { kind: 'cli', name: userName() }, ...reason },
    // Sweeping is done by `settle`, or by the next server.
    sweepIntervalMs: 0,
    // The store answers a single check before an index would be loaded.
    membership: { maxBytes: 0, build: 'off' },
  })
  catraca.keys.reserve(() => config.keys.read().map(({ name }) => name))
  return { ...catraca, settle: () => catraca.upkeep() }
}

/** The user who runs the command; in some containers the system knows only a number. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return `uid-${process.getuid?.() ?? 'unknown'}`
  }
}
