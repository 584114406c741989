import type { ImportRecord, ImportSession } from '../../../guards/allowlist/port.js'
import type { Environment } from '../lmdb/environment.js'
import type { Catalog } from './catalog.js'
import { importKey } from './keys.js'
import type { StoredList } from './meta.js'

/** An import as stored in `imports`, with its lease. */
export interface StoredImport extends ImportRecord {
  owner: string
  leaseUntil: number
}

/** Import records. Everything but `read` runs in a write transaction of the caller. */
export class ImportRecords {
  constructor(
    private readonly environment: Environment,
    private readonly catalog: Catalog,
  ) {}

  read(no: number, importId: string): StoredImport | undefined {
    const bytes = this.environment.imports.getBinary(importKey(no, importId))
    return bytes && (JSON.parse(bytes.toString()) as StoredImport)
  }

  store(no: number, record: StoredImport): void {
    this.environment.imports.putSync(importKey(no, record.importId), Buffer.from(JSON.stringify(record)))
  }

  /** The list and the record, if the session still owns the import and the list was not recreated. */
  owned(session: ImportSession): { list: StoredList; record: StoredImport } | 'lost' | 'list-not-found' {
    const list = this.catalog.read(session.listId)
    if (list === undefined || list.no !== session.incarnation) return 'list-not-found'
    const record = this.read(list.no, session.importId)
    if (record === undefined || record.owner !== session.owner) return 'lost'
    return { list, record }
  }

  /** Whether a worker holds its lease. */
  isLive(no: number, importId: string, now: number): boolean {
    const record = this.read(no, importId)
    return record !== undefined && record.state === 'running' && record.leaseUntil > now
  }
}

export function publicRecord({ owner: _, leaseUntil, ...record }: StoredImport, now: number): ImportRecord {
  return record.state === 'running' && leaseUntil <= now ? { ...record, state: 'interrupted' } : record
}
