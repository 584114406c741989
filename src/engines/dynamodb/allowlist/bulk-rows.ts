import { readCustomerKey } from '../../../guards/allowlist/customer-key.js'
import { importedRow } from '../../../guards/allowlist/generation-changes.js'
import { newWindowedRow } from '../../../guards/allowlist/generation-window.js'
import type { ImportSession, MemberAttributes, SortedCustomers } from '../../../guards/allowlist/port.js'
import type { StoredList } from './meta.js'
import { isMember, type Row, written } from './rows.js'

/** A customer of an import, and the attributes in its row. */
export interface ImportedCustomer {
  customerId: string
  given: MemberAttributes | undefined
}

export function importedCustomers(run: SortedCustomers, from: number, to: number): ImportedCustomer[] {
  return Array.from({ length: to - from }, (_, i) => ({
    customerId: readCustomerKey(run.bytes, run.start(from + i), run.end(from + i)),
    given: run.attributes(from + i),
  }))
}

/** The rows that an import in `add` mode writes. */
export class AddedRows {
  constructor(
    private readonly session: ImportSession,
    /** The name of the batch, and of rows that are counted as they are written. */
    readonly batch: string,
    readonly counted: string,
    /** Names of earlier batches of the run, whose rows were not reported as added yet. */
    private readonly unpublished: readonly string[],
    private readonly now: number,
  ) {}

  /** For a customer without a row. It counts when its batch is counted. */
  fresh({ given }: ImportedCustomer): Row {
    const { addedBy, incarnation } = this.session
    const attributes = addedBy === undefined ? given : { addedBy, ...given }
    return { ...written(newWindowedRow(attributes, this.now)), batch: this.batch, incarnation }
  }

  /** For a customer whose row was read. It counts in the same transaction, so it belongs to no open batch. */
  changed(list: StoredList, before: Row | undefined, { given }: ImportedCustomer): Row | 'as it is' {
    const row = importedRow(list, before, given, this.session.addedBy, this.now)
    if (row === 'as it is') return row
    return this.isMember(list, before) ? written(row) : { ...written(row), batch: this.counted }
  }

  /** Whether this run added the row, perhaps before it was interrupted. */
  isOwn(row: Row | undefined): boolean {
    return row?.batch !== undefined && this.unpublished.includes(row.batch)
  }

  isMember(list: StoredList, row: Row | undefined): boolean {
    return isMember(row, list.generation, this.now)
  }
}
