export {
  type AdoptionProgress,
  adoptLists,
  type DynamodbTables,
  openDynamodbTables,
} from './app/dynamodb-tables.js'
export type { EngineHealth, Health } from './app/health.js'
export type { HotTierOptions } from './app/hot-tier.js'
export { type Catraca, type CatracaOn, openCatraca } from './app/open-catraca.js'
export type { OpenCodesOptions, PepperOption } from './app/open-codes.js'
export type {
  OpenAuditOptions,
  OpenOptions,
  OpenTokensOptions,
  OwnEngineOptions,
} from './app/open-options.js'
export { type RelayOptions, type RunningRelay, startRelay } from './app/relay.js'
export { type Clock, ManualClock, systemClock } from './core/clock.js'
export type { Bounds as HealthBounds } from './core/coalesced-read.js'
export { encodeIdentifier, encodeName } from './core/encode-identifier.js'
export { CatracaError, ERROR_CODES, type ErrorCode, type FieldError, isCatracaError } from './core/errors.js'
export type { JsonForm } from './core/json-form.js'
export { type ManualTime, manualClock } from './core/manual-clock.js'
export type { Engine, EnginePorts, GuardName } from './engines/engine.js'
export type { ApiKey, ApiKeys } from './guards/access/index.js'
export type { KeyStore } from './guards/access/port.js'
export { SCOPES, type Scope } from './guards/access/scopes.js'
export type { AllowlistsApi } from './guards/allowlist/api.js'
export type { Allowlists } from './guards/allowlist/index.js'
export type { AllowlistEngine } from './guards/allowlist/port.js'
export type * from './guards/allowlist/types.js'
export type { AuditApi } from './guards/audit/api.js'
export type { AuditTrail } from './guards/audit/index.js'
export type { AuditStore } from './guards/audit/port.js'
export type * from './guards/audit/types.js'
export type { CacheApi } from './guards/cache/api.js'
export type { Codec } from './guards/cache/codec.js'
export type { Caches } from './guards/cache/index.js'
export type { NeededCodec, SpaceOptions } from './guards/cache/options.js'
export type { CacheStore } from './guards/cache/port.js'
export type { CacheSpace } from './guards/cache/space.js'
export { typedJson } from './guards/cache/typed-json.js'
export type * from './guards/cache/types.js'
export type { IdempotencyApi } from './guards/idempotency/api.js'
export { canonicalForm, requestHashOf } from './guards/idempotency/canonical.js'
export {
  type ConsumerDecision,
  type ConsumerOptions,
  idempotentConsumer,
} from './guards/idempotency/consumer.js'
export type { HoldResult, Idempotency } from './guards/idempotency/index.js'
export type { IdempotencyStore } from './guards/idempotency/port.js'
export { notExecuted, refusalError } from './guards/idempotency/refusals.js'
export type * from './guards/idempotency/types.js'
export type { LocksApi } from './guards/lock/api.js'
export type { Locks } from './guards/lock/index.js'
export type { LockStore } from './guards/lock/port.js'
export type * from './guards/lock/types.js'
export type { CodesApi } from './guards/one-time-code/api.js'
export type { OneTimeCodes } from './guards/one-time-code/index.js'
export { issueDenied } from './guards/one-time-code/issue-denied.js'
export type { CodeStore } from './guards/one-time-code/port.js'
export type * from './guards/one-time-code/types.js'
export type { LimitsApi } from './guards/rate-limit/api.js'
export type { HeldLease, RateLimits } from './guards/rate-limit/index.js'
export type { LimitEngine } from './guards/rate-limit/port.js'
export { DICT_LIMITS } from './guards/rate-limit/presets.js'
export { quotaExceeded } from './guards/rate-limit/quota-exceeded.js'
export type * from './guards/rate-limit/types.js'
export type { TokensApi } from './guards/token-denylist/api.js'
export type { TokenDenylist } from './guards/token-denylist/index.js'
export type { TokenStore } from './guards/token-denylist/port.js'
export { tokenRevoked } from './guards/token-denylist/token-revoked.js'
export type * from './guards/token-denylist/types.js'
