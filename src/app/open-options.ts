import type { Clock } from '../core/clock.js'
import type { DynamodbProfile } from '../engines/dynamodb/defaults.js'
import type { Engine } from '../engines/engine.js'
import type { EngineOptions } from '../engines/registry.js'
import type { LastKnownOptions } from '../guards/allowlist/last-known/options.js'
import type { MembershipOptions } from '../guards/allowlist/membership/options.js'
import type { OnUnavailable } from '../guards/allowlist/types.js'
import type { AuditOptions } from '../guards/audit/types.js'
import type { SpaceOptions } from '../guards/cache/options.js'
import type { FleetOptions } from '../guards/fleet/types.js'
import type { IdempotencyOptions } from '../guards/idempotency/options.js'
import type { LockOptions } from '../guards/lock/options.js'
import type { LimitOptions } from '../guards/rate-limit/options.js'
import type { TokenOptions } from '../guards/token-denylist/types.js'
import type { HotTierOptions } from './hot-tier.js'
import type { ImportOptions } from './open-allowlists.js'
import type { OpenCodesOptions } from './open-codes.js'

interface OwnStore {
  /** A store URL, if the data of this guard is in another store than the rest. */
  store?: string
}

export interface OpenLimitsOptions extends Partial<LimitOptions>, OwnStore {}
export interface OpenIdempotencyOptions extends Partial<IdempotencyOptions>, OwnStore {}
export interface OpenTokensOptions extends Partial<TokenOptions>, OwnStore {}
export interface OpenAuditOptions extends Partial<AuditOptions>, OwnStore {}

export interface OpenLocksOptions extends Partial<LockOptions>, OwnStore {
  /** At least three independent Redis servers: locks by majority (Redlock), without fences. Overrides `store`. */
  redlock?: readonly string[]
}

export interface OpenCacheOptions extends OwnStore {
  /** Default timeout of the second tier, for spaces that set none. */
  timeoutMs?: number
  /** Spaces that can be used by name, also over HTTP. */
  spaces?: readonly SpaceOptions[]
}

export interface MetricsOptions {
  /** Whether guards and engines count what they do. Default: true. */
  enabled?: boolean
  /** How many lists, resources and spaces (each) get their own counters. Further ones count as `other`. */
  maxSeries?: number
}

/** Options of an instance, wherever its data is. */
interface InstanceOptions extends Omit<EngineOptions, 'dynamodb'> {
  dynamodb?: EngineOptions['dynamodb'] & {
    hotTier?: HotTierOptions
    /** Defaults between cost and delay, where the main store is DynamoDB. Options that are given win. */
    profile?: DynamodbProfile
  }
  /**
   * For tests of services: `manualClock()` moves only when told to. Redis decides by its own clock, so it is meant for
   * `memory:` and `embedded:`.
   */
  clock?: Clock
  /** How often to delete expired data. 0: only when `upkeep()` is called. */
  sweepIntervalMs?: number
  membership?: Partial<MembershipOptions>
  limits?: OpenLimitsOptions
  idempotency?: OpenIdempotencyOptions
  codes?: OpenCodesOptions
  tokens?: OpenTokensOptions
  locks?: OpenLocksOptions
  cache?: OpenCacheOptions
  metrics?: MetricsOptions
  /** Whether this process announces itself to the others of the store (default: no), and by which name. */
  fleet?: Partial<FleetOptions>
  audit?: OpenAuditOptions
  /**
   * What a check returns when neither fresh memory nor the store can answer: an error (default), allowed, or what
   * memory last knew. The latter two are marked as degraded.
   */
  onUnavailable?: OnUnavailable
  /** For `onUnavailable: 'last-known'`. */
  lastKnown?: Partial<LastKnownOptions>
  tracing?: {
    /** Whether to make spans if the host has registered an OpenTelemetry provider. Default: true. */
    enabled?: boolean
  }
  /** Receives failures of background work, which has no caller. */
  onReport?: (message: string, error: unknown) => void
  import?: ImportOptions
}

export interface OpenOptions extends InstanceOptions {
  /** A store URL such as `embedded:./catraca-data` (the default) or `memory:`. */
  store?: string
}

export interface OwnEngineOptions<E extends Engine = Engine> extends InstanceOptions {
  /**
   * An engine that somebody else made, instead of `store`. Guards whose port it does not offer are absent, unless they
   * have a store of their own; options for an absent guard are refused. `close()` closes the engine. If opening
   * fails, the engine stays with its maker.
   */
  engine: E
}
