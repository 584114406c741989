export { CatracaApiError, type FieldProblem } from './api-error.js'
export { type CatracaClient, type ClientOptions, createClient } from './client.js'
export * from './generated.js'
export type { CallOptions, StreamBody } from './operation.js'
