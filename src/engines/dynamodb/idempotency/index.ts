export type { ReadFirst } from './read-first.js'
export { DynamodbIdempotency } from './store.js'
