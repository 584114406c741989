export type { ApiKey, ApiKeys } from './access/keys.js'
export { SCOPES, type Scope } from './access/scopes.js'
export type { Allowlists } from './allowlist/allowlists.js'
export type { AllowlistsApi } from './allowlist/api.js'
export type * from './allowlist/types.js'
export { type Catraca, type EngineHealth, type Health, type OpenOptions, openCatraca } from './catraca.js'
export { type Clock, ManualClock, systemClock } from './clock.js'
export type { OpenCodesOptions, PepperOption } from './codes.js'
export {
  type AdoptionProgress,
  adoptLists,
  type DynamodbTables,
  openDynamodbTables,
} from './dynamodb-tables.js'
export { CatracaError, ERROR_CODES, type ErrorCode, type FieldError, isCatracaError } from './errors.js'
export type { HotTierOptions } from './hot-tier.js'
export type { IdempotencyApi } from './idempotency/api.js'
export { canonicalForm, requestHashOf } from './idempotency/canonical.js'
export {
  type ConsumerDecision,
  type ConsumerOptions,
  idempotentConsumer,
} from './idempotency/consumer.js'
export type { HoldResult, Idempotency } from './idempotency/idempotency.js'
export { notExecuted, refusalError } from './idempotency/refusals.js'
export type * from './idempotency/types.js'
export type { LocksApi } from './lock/api.js'
export type { Locks } from './lock/locks.js'
export type * from './lock/types.js'
export type { CodesApi } from './one-time-code/api.js'
export type { OneTimeCodes } from './one-time-code/codes.js'
export { issueDenied } from './one-time-code/issue-denied.js'
export type * from './one-time-code/types.js'
export type { LimitsApi } from './rate-limit/api.js'
export type { HeldLease, RateLimits } from './rate-limit/limits.js'
export { DICT_LIMITS } from './rate-limit/presets.js'
export { quotaExceeded } from './rate-limit/quota-exceeded.js'
export type * from './rate-limit/types.js'
export { type RelayOptions, type RunningRelay, startRelay } from './relay.js'
export type { TokensApi } from './token-denylist/api.js'
export type { TokenDenylist } from './token-denylist/denylist.js'
export { tokenRevoked } from './token-denylist/token-revoked.js'
export type * from './token-denylist/types.js'
export type { OpenTokensOptions } from './tokens.js'
