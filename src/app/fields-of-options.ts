import { type Fields, fieldsOf, KnownFields } from '../core/fields.js'
import { ENGINE_FIELDS } from '../engines/registry.js'
import { DEFAULT_LAST_KNOWN } from '../guards/allowlist/last-known/options.js'
import { DEFAULT_MEMBERSHIP } from '../guards/allowlist/membership/options.js'
import { DEFAULT_AUDIT } from '../guards/audit/types.js'
import { DEFAULT_FLEET } from '../guards/fleet/types.js'
import { DEFAULT_IDEMPOTENCY } from '../guards/idempotency/options.js'
import { DEFAULT_LOCKS } from '../guards/lock/options.js'
import { DEFAULT_CODES } from '../guards/one-time-code/options.js'
import { DEFAULT_LIMITS } from '../guards/rate-limit/options.js'
import { DEFAULT_TOKENS } from '../guards/token-denylist/types.js'
import { HOT_TIER_FIELDS } from './hot-tier.js'
import type { OpenOptions, OwnEngineOptions } from './open-options.js'

const FIELDS: Fields<OpenOptions & OwnEngineOptions> = {
  ...{ store: true, engine: true, clock: true, sweepIntervalMs: true, onUnavailable: true, onReport: true },
  ...ENGINE_FIELDS,
  dynamodb: { ...ENGINE_FIELDS.dynamodb, hotTier: HOT_TIER_FIELDS, profile: true },
  membership: fieldsOf(DEFAULT_MEMBERSHIP),
  lastKnown: fieldsOf(DEFAULT_LAST_KNOWN),
  limits: {
    ...fieldsOf(DEFAULT_LIMITS),
    ...{ store: true, leaseSecret: true },
    localLease: { tokens: true, ms: true },
    defaults: { onUnavailable: true, autoUpdate: true, strictVersion: true, limits: true },
  },
  idempotency: { ...fieldsOf(DEFAULT_IDEMPOTENCY), store: true },
  codes: {
    ...fieldsOf(DEFAULT_CODES),
    lifeMs: fieldsOf(DEFAULT_CODES.lifeMs),
    ...{ store: true, pepper: true, previousPepper: true, required: true },
  },
  tokens: { ...fieldsOf(DEFAULT_TOKENS), store: true },
  locks: { ...fieldsOf(DEFAULT_LOCKS), store: true, redlock: true },
  cache: { store: true, timeoutMs: true, spaces: true },
  metrics: { enabled: true, maxSeries: true },
  fleet: fieldsOf(DEFAULT_FLEET),
  audit: {
    ...fieldsOf(DEFAULT_AUDIT),
    reason: true,
    actor: { kind: true, name: true, id: true },
    store: true,
  },
  tracing: { enabled: true },
  import: { leaseMs: true, spoolDir: true },
}

/** All options of `openCatraca`. Without this check, an unknown name would silently mean the default. */
export const OPEN_FIELDS = new KnownFields(FIELDS)
