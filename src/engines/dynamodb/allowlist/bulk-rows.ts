import { readCustomerKey } from '../../../guards/allowlist/customer-key.js'
import type { ImportSession, MemberAttributes, SortedCustomers } from '../../../guards/allowlist/port.js'
import type { StoredList } from './meta.js'
import { attributesAt, FOREVER, isMember, newChangeId, newRow, type Row, sameAttributes } from './rows.js'

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
    return { ...this.added(given), batch: this.batch, incarnation: this.session.incarnation }
  }

  /** For a customer whose row was read. It counts in the same transaction, so it belongs to no open batch. */
  changed(list: StoredList, before: Row | undefined, { given }: ImportedCustomer): Row | 'as it is' {
    const pin = list.replacing?.generation ?? 0
    if (!isMember(before, list.generation, this.now)) {
      return { ...this.added(given), batch: this.counted, pin }
    }
    if (given === undefined || sameAttributes(given, attributesAt(before!, list.generation))) {
      // The row is pinned, so that a running replace does not remove the member.
      if (pin === 0 || before!.pin === pin) return 'as it is'
      return { ...before!, until: FOREVER, pin, changeId: newChangeId() }
    }
    return { ...newRow(given, before!.addedAt), pin }
  }

  /** Whether this run added the row, perhaps before it was interrupted. */
  isOwn(row: Row | undefined): boolean {
    return row?.batch !== undefined && this.unpublished.includes(row.batch)
  }

  isMember(list: StoredList, row: Row | undefined): boolean {
    return isMember(row, list.generation, this.now)
  }

  private added(given: MemberAttributes | undefined): Row {
    const { addedBy } = this.session
    return newRow(addedBy === undefined ? given : { addedBy, ...given }, this.now)
  }
}
