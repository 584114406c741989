import type { RecordKey, RecordView } from './types.js'

/** Idempotency records for operators. The library implements it, and the remote half of the CLI as far as commands need it. */
export interface IdempotencyApi {
  get(key: RecordKey): Promise<RecordView | undefined>
  /** Whether it existed. */
  delete(key: RecordKey): Promise<boolean>
}
