import { isLive, type LeasedImport } from '../../../guards/allowlist/import/stored-import.js'
import type { ImportSession } from '../../../guards/allowlist/port.js'
import type { Environment } from '../lmdb/environment.js'
import type { Catalog } from './catalog.js'
import { importKey, listEnd, listStart } from './keys.js'
import type { StoredList } from './meta.js'

/** Import records. Everything but `read` runs in a write transaction of the caller. */
export class ImportRecords {
  constructor(
    private readonly environment: Environment,
    private readonly catalog: Catalog,
  ) {}

  read(no: number, importId: string): LeasedImport | undefined {
    const bytes = this.environment.imports.getBinary(importKey(no, importId))
    return bytes && (JSON.parse(bytes.toString()) as LeasedImport)
  }

  /** In the order of their ids. */
  list(no: number, limit: number): LeasedImport[] {
    const range = { start: listStart(no), end: listEnd(no), limit }
    return Array.from(this.environment.imports.getRange(range), ({ value }) => JSON.parse(value.toString()))
  }

  store(no: number, record: LeasedImport): void {
    this.environment.imports.putSync(importKey(no, record.importId), Buffer.from(JSON.stringify(record)))
  }

  /** The list and the record, if the session still owns the import and the list was not recreated. */
  owned(session: ImportSession): { list: StoredList; record: LeasedImport } | 'lost' | 'list-not-found' {
    const list = this.catalog.read(session.listId)
    if (list === undefined || list.no !== session.incarnation) return 'list-not-found'
    const record = this.read(list.no, session.importId)
    if (record === undefined || record.owner !== session.owner) return 'lost'
    return { list, record }
  }

  isLive(no: number, importId: string, now: number): boolean {
    return isLive(this.read(no, importId), now)
  }
}
