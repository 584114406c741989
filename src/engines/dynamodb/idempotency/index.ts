export type { ReadFirst } from '../options.js'
export { DynamodbIdempotency } from './store.js'
