import { readCustomerKey } from '../../../guards/allowlist/customer-key.js'
import type { ImportSession, MemberAttributes, SortedCustomers } from '../../../guards/allowlist/port.js'
import type { StoredList } from './meta.js'
import { attributesAt, FOREVER, isMember, newChangeId, newRow, type Row, sameAttributes } from './rows.js'

/** A customer of an import, and what its row says. */
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

/** What an import in `add` mode writes. */
export class AddedRows {
  constructor(
    private readonly session: ImportSession,
    /** The name of the batch; and of what is counted as it is written. */
    readonly batch: string,
    readonly counted: string,
    /** Of earlier batches of the run, which were not told of. */
    private readonly unpublished: readonly string[],
    private readonly now: number,
  ) {}

  /** For a customer of whom nothing is known. It counts only when the batch is. */
  fresh({ given }: ImportedCustomer): Row {
    return { ...this.added(given), batch: this.batch, incarnation: this.session.incarnation }
  }

  /** For a customer whose row was read; it counts in the same step, and so is in no batch that is open. */
  changed(list: StoredList, before: Row | undefined, { given }: ImportedCustomer): Row | 'as it is' {
    const pin = list.replacing?.generation ?? 0
    if (!isMember(before, list.generation, this.now)) {
      return { ...this.added(given), batch: this.counted, pin }
    }
    if (given === undefined || sameAttributes(given, attributesAt(before!, list.generation))) {
      // A replace that is running must learn that somebody else wants the member to stay.
      if (pin === 0 || before!.pin === pin) return 'as it is'
      return { ...before!, until: FOREVER, pin, changeId: newChangeId() }
    }
    return { ...newRow(given, before!.addedAt), pin }
  }

  /** Whether the row is there because this run has added it, perhaps before it was interrupted. */
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
