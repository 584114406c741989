export type { RecordNaming } from './keys.js'
export { type IdempotencyClock, RedisIdempotency } from './store.js'
