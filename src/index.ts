export type { ApiKey, ApiKeys } from './access/keys.js'
export { SCOPES, type Scope } from './access/scopes.js'
export type { Allowlists } from './allowlist/allowlists.js'
export type { AllowlistsApi } from './allowlist/api.js'
export type * from './allowlist/types.js'
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
export { type RelayOptions, type RunningRelay, startRelay } from './relay.js'
