import { countSteps } from '../../../guards/allowlist/generation-changes.js'
import type { Environment } from '../lmdb/environment.js'
import { CustomerRef } from './keys.js'
import { decodeRow, encodeRow, type Row } from './member-row-codec.js'
import type { Counters, StoredList } from './meta.js'

const NOTHING = Buffer.alloc(0)

/**
 * The three rows of a member (by list, by customer and, if it expires, by time), always written together, in a write
 * transaction of the caller.
 */
export class MemberRows {
  /** The customer of the next call. */
  readonly key = new CustomerRef()

  constructor(private readonly environment: Environment) {}

  read(): Row | undefined {
    const bytes = this.environment.members.getBinaryFast(this.key)
    return bytes && decodeRow(bytes)
  }

  exists(): boolean {
    return this.environment.members.getBinaryFast(this.key) !== undefined
  }

  put(row: Row, previous: Row | undefined): void {
    const { members, reverse, expiry } = this.environment
    if (previous?.expiresAt !== undefined && previous.expiresAt !== row.expiresAt) {
      expiry.removeSync(this.key.at(previous.expiresAt))
    }
    members.putSync(this.key, encodeRow(row))
    if (previous === undefined) reverse.putSync(this.key, NOTHING)
    if (row.expiresAt !== undefined) expiry.putSync(this.key.at(row.expiresAt), NOTHING)
  }

  remove(previous: Row): void {
    const { members, reverse, expiry } = this.environment
    members.removeSync(this.key)
    reverse.removeSync(this.key)
    if (previous.expiresAt !== undefined) expiry.removeSync(this.key.at(previous.expiresAt))
  }
}

/** Updates the counts of both generations when a row changes. */
export function tally(
  counters: Counters,
  list: StoredList,
  before: Row | undefined,
  after: Row | undefined,
): void {
  const steps = countSteps(list, before, after)
  counters.customerCount += steps.customerCount
  counters.pendingCount += steps.pendingCount
}
