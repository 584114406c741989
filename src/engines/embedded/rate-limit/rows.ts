import type { SubjectState } from '../../../guards/rate-limit/decide.js'
import type { Subject } from '../../../guards/rate-limit/types.js'
import type { Environment } from '../lmdb/environment.js'

/** A row of `limit-states`: when nothing of it counts any more, and the states. */
export type Row = [expiresAt: number, states: SubjectState]

interface OpenRow extends Subject {
  row: Row
  isChanged: boolean
}

const NOTHING: Row = [0, []]
const MAX_ROWS = 50_000

/**
 * Rows of `limit-states` while a transaction works with them, so that each is read and written once. They are kept for
 * the next transaction: if it has the number behind the last one that changed rows here, nobody else has written since.
 */
export class LimitRows {
  private readonly rows = new Map<string, Map<string, OpenRow>>()
  private changed: OpenRow[] = []
  private size = 0
  /** The transaction that works with them, in this thread and among those of all processes. */
  private begun = 0
  private number = 0
  private failed = 0
  /** The last one that changed rows here. */
  private written = 0

  constructor(private readonly environment: Environment) {}

  /** In a write transaction, before all else. */
  open(): void {
    const { begun, failed } = this.environment
    if (begun === this.begun) return
    const number = this.environment.transactionNumber()
    if (number !== this.written + 1 || failed !== this.failed) this.forget()
    this.begun = begun
    this.failed = failed
    this.number = number
  }

  /** Somebody writes them in another way. */
  forget(): void {
    this.rows.clear()
    this.changed = []
    this.size = 0
  }

  row(subject: Subject): Row {
    return this.opened(subject).row
  }

  put(subject: Subject, states: SubjectState, until: number): void {
    const opened = this.opened(subject)
    // A limit that this call does not name may count for longer.
    opened.row = [Math.max(opened.row[0], until), states]
    if (opened.isChanged) return
    opened.isChanged = true
    this.changed.push(opened)
  }

  private opened({ entity, resource }: Subject): OpenRow {
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
