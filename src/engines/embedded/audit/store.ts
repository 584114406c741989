import { boundAt } from '../../../guards/audit/entry-id.js'
import type { AuditPart, AuditStore, PreparedEntry, StoredEntry } from '../../../guards/audit/port.js'
import type { Environment } from '../lmdb/environment.js'
import { sweepDue } from '../lmdb/sweep-due.js'

/** The audit trail: one row per entry, by its id. In the environment of the lists, and as durable. */
export class EmbeddedAudit implements AuditStore {
  constructor(private readonly environment: Environment) {}

  append(entries: readonly StoredEntry[]): Promise<void> {
    const { audit } = this.environment
    return this.environment.write(() => {
      for (const { id, text } of entries) audit.putSync(id, text)
    })
  }

  /** Runs in the write transaction of the change that the entry describes. */
  store(entry: PreparedEntry | undefined, outcome: string): void {
    const text = entry?.texts[outcome]
    if (entry !== undefined && text !== undefined) this.environment.audit.putSync(entry.id, text)
  }

  async read(below: string, from: string, limit: number): Promise<AuditPart> {
    this.environment.refresh()
    // One row more, because LMDB begins with the row that the reader already has.
    const range = { start: below, end: from, reverse: true, limit: limit + 1 }
    const rows = Array.from(this.environment.audit.getRange(range), ({ key, value }) => ({
      id: key,
      text: value,
    }))
    const entries = rows.filter(({ id }) => id < below).slice(0, limit)
    return entries.length < limit ? { entries } : { entries, next: entries.at(-1)!.id }
  }

  hasDue(before: number): boolean {
    this.environment.refresh()
    return this.due(before, 1).length > 0
  }

  sweep(before: number): Promise<{ more: boolean }> {
    const { environment } = this
    return sweepDue(
      environment,
      (limit) => this.due(before, limit),
      (id) => environment.audit.removeSync(id),
    )
  }

  private due(before: number, limit: number): string[] {
    return Array.from(this.environment.audit.getKeys({ end: boundAt(before), limit }))
  }
}
