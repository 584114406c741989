import { isCatracaError } from '../../core/errors.js'
import { identifier } from '../../core/identifiers.js'
import type { IdempotencyApi } from '../../guards/idempotency/api.js'
import type { RecordKey, RecordView } from '../../guards/idempotency/types.js'
import type { HttpTransport } from './transport.js'

/** Idempotency records over HTTP, with the results and errors of the library. */
export class HttpIdempotency implements IdempotencyApi {
  constructor(private readonly http: HttpTransport) {}

  async get(key: RecordKey): Promise<RecordView | undefined> {
    return unlessAbsent(this.http.json<RecordView>('GET', pathOf(key)))
  }

  async delete(key: RecordKey): Promise<boolean> {
    const deleted = this.http.json('DELETE', pathOf(key)).then(() => true)
    return (await unlessAbsent(deleted)) ?? false
  }
}

async function unlessAbsent<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (isCatracaError(error, 'IDEMPOTENCY_RECORD_NOT_FOUND')) return undefined
    throw error
  }
}

/** Checked before they become part of a path, as for allowlists. */
function pathOf({ operation, key }: RecordKey): string {
  const parts = [identifier('operation', operation), identifier('key', key)]
  return `/idempotency/${parts.map(encodeURIComponent).join('/')}`
}
