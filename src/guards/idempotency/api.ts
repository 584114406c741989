import type { RecordKey, RecordView } from './types.js'

/** Records as an operator sees them: the same in the library and, over HTTP, in the client of the command line. */
export interface IdempotencyApi {
  get(key: RecordKey): Promise<RecordView | undefined>
  /** Whether there was one. */
  delete(key: RecordKey): Promise<boolean>
}
