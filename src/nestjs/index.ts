export { forwardedFor } from '../adapters/client-address.js'
export type { DenialResponse } from '../adapters/gate.js'
export { idempotencyContext } from '../adapters/idempotency.js'
export type { TokenClaims } from '../adapters/token-denylist.js'
export { Cached, type CachedOptions } from './cached.js'
export { CatracaException, CatracaExceptionFilter } from './exception.js'
export {
  Allow,
  type AllowGuardOptions,
  allowGuard,
  type Cost,
  Limit,
  type LimitOptions,
  type Lists,
  limitGuard,
  RevokedTokens,
  type RevokedTokensGuardOptions,
  type RouteDecorator,
  revokedTokensGuard,
} from './guards.js'
export { CatracaHealth, type CatracaHealthResult } from './health.js'
export { Idempotent, type IdempotentOptions, idempotentInterceptor } from './idempotent.js'
export { Fence, Locked, type LockedOptions, LockSignal } from './locked.js'
export type { WorkDecorator } from './methods.js'
export { CatracaModule, type CatracaModuleOptions } from './module.js'
export { type AnyCatraca, CATRACA, InjectCatraca, type NestRequest } from './tokens.js'
