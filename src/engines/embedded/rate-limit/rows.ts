import type { SubjectState } from '../../../guards/rate-limit/decide.js'
import type { Subject } from '../../../guards/rate-limit/types.js'
import type { Environment } from '../lmdb/environment.js'

/** A row of `limit-states`: when all its states expire, and the states. */
export type Row = [expiresAt: number, states: SubjectState]

interface OpenRow extends Subject {
  row: Row
  isChanged: boolean
}

const NOTHING: Row = [0, []]
const MAX_ROWS = 50_000

/**
 * Rows of `limit-states` that a transaction uses, so that each is read and written once. They are reused by the next
 * transaction if its number directly follows the last transaction that changed rows here: then no other process has
 * written since.
 */
export class LimitRows {
  private readonly rows = new Map<string, Map<string, OpenRow>>()
  private changed: OpenRow[] = []
  private size = 0
  /** The current transaction: its number in this thread, and its number across all processes. */
  private begun = 0
  private number = 0
  private failed = 0
  /** The last transaction that changed rows here. */
  private written = 0

  constructor(private readonly environment: Environment) {}

  /** Called first in a write transaction. */
  open(): void {
    const { begun, failed } = this.environment
    if (begun === this.begun) return
    const number = this.environment.transactionNumber()
    if (number !== this.written + 1 || failed !== this.failed) this.forget()
    this.begun = begun
    this.failed = failed
    this.number = number
  }

  /** Called when rows are written by other means. */
  forget(): void {
    this.rows.clear()
    this.changed = []
    this.size = 0
  }

  change(opened: OpenRow, states: SubjectState, until: number): void {
    // A limit that this call does not name may expire later.
    opened.row = [Math.max(opened.row[0], until), states]
    if (opened.isChanged) return
    opened.isChanged = true
    this.changed.push(opened)
  }

  opened({ entity, resource }: Subject): OpenRow {
    let ofResource = this.rows.get(resource)
    if (ofResource === undefined) this.rows.set(resource, (ofResource = new Map()))
    let opened = ofResource.get(entity)
    if (opened === undefined) {
      const text = this.environment.limitStates.get([entity, resource])
      const row = text === undefined ? NOTHING : (JSON.parse(text) as Row)
      opened = { entity, resource, row, isChanged: false }
      ofResource.set(entity, opened)
      this.size++
    }
    return opened
  }

  store(): void {
    const { limitStates } = this.environment
    for (const opened of this.changed) {
      const { entity, resource, row } = opened
      opened.isChanged = false
      const key = [entity, resource]
      const isWritten =
        row[1].length === 0 ? limitStates.removeSync(key) : limitStates.putSync(key, JSON.stringify(row))
      if (isWritten) this.written = this.number
    }
    this.changed = []
    if (this.size > MAX_ROWS) this.forget()
  }
}
