import type { ListedPage } from '../../core/listing.js'
import type { ListedRecordView, RecordKey, RecordQuery, RecordView } from './types.js'

/** Idempotency records for operators. The library implements it, and the remote half of the CLI as far as commands need it. */
export interface IdempotencyApi {
  get(key: RecordKey): Promise<RecordView | undefined>
  /** A page may be short, or empty, although there is more. */
  list(query?: RecordQuery): Promise<ListedPage<ListedRecordView>>
  /** Whether it existed. */
  delete(key: RecordKey): Promise<boolean>
}
