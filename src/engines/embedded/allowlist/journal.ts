import { EntryWriter, RESET_ENTRY } from '../../../guards/allowlist/changes/entry.js'
import { MAX_CUSTOMER_KEY_LENGTH, writeCustomerKey } from '../../../guards/allowlist/customer-key.js'
import type { ChangeLog } from './change-log.js'
import type { CustomerRef } from './keys.js'
import { attributesAt, type Row } from './member-row-codec.js'
import type { Counters } from './meta.js'

/** Records what a write transaction does to the members of a list, and appends it to the list's change log. */
export class Journal {
  private readonly entry = new EntryWriter()
  private readonly scratch = new Uint8Array(MAX_CUSTOMER_KEY_LENGTH)

  constructor(private readonly log: ChangeLog) {}

  /** Starts a new transaction: discards what an earlier one recorded and did not commit. */
  begin(): void {
    this.entry.clear()
  }

  added(customer: CustomerRef, row: Row, generation: number): void {
    const { expiresAt } = attributesAt(row, generation)
    if (customer.bytes !== undefined) {
      this.entry.added(customer.bytes, customer.start, customer.end, row.addedAt, expiresAt)
    } else {
      this.entry.added(
        this.scratch,
        0,
        writeCustomerKey(customer.id, this.scratch, 0),
        row.addedAt,
        expiresAt,
      )
    }
  }

  removed(customer: CustomerRef): void {
    if (customer.bytes !== undefined) this.entry.removed(customer.bytes, customer.start, customer.end)
    else this.entry.removed(this.scratch, 0, writeCustomerKey(customer.id, this.scratch, 0))
  }

  /** Appends what was recorded, if anything. The caller must store `counters`. */
  commit(no: number, counters: Counters): boolean {
    if (this.entry.isEmpty) return false
    this.log.append(no, counters, this.entry.bytes())
    return true
  }

  /** Logs that the members changed as a whole. */
  reset(no: number, counters: Counters): void {
    this.log.append(no, counters, RESET_ENTRY)
  }
}
