import type { RecordKey, RecordView } from './types.js'

/** Idempotency records for operators. The library implements it, and so does the remote half of the CLI. */
export interface IdempotencyApi {
  get(key: RecordKey): Promise<RecordView | undefined>
  /** Whether it existed. */
  delete(key: RecordKey): Promise<boolean>
}
