export type { ApiKey, ApiKeys } from './access/keys.js'
export { SCOPES, type Scope } from './access/scopes.js'
export type { Allowlists } from './allowlist/allowlists.js'
export type { AllowlistsApi } from './allowlist/api.js'
export type * from './allowlist/types.js'
export type { CacheApi } from './cache/api.js'
export type { Caches } from './cache/caches.js'
export type { Codec } from './cache/codec.js'
export type { SpaceOptions } from './cache/options.js'
export type { CacheSpace } from './cache/space.js'
export type * from './cache/types.js'
export { type Catraca, type EngineHealth, type Health, type OpenOptions, openCatraca } from './catraca.js'
export { type Clock, ManualClock, systemClock } from './clock.js'
export {
  type AdoptionProgress,
  adoptLists,
  type DynamodbTables,
  openDynamodbTables,
} from './dynamodb-tables.js'
export { CatracaError, ERROR_CODES, type ErrorCode, type FieldError, isCatracaError } from './errors.js'
export type { HotTierOptions } from './hot-tier.js'
export type { LimitsApi } from './rate-limit/api.js'
export type { HeldLease, RateLimits } from './rate-limit/limits.js'
export { DICT_LIMITS } from './rate-limit/presets.js'
export { quotaExceeded } from './rate-limit/quota-exceeded.js'
export type * from './rate-limit/types.js'
export { type RelayOptions, type RunningRelay, startRelay } from './relay.js'
