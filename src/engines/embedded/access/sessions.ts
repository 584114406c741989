import type { SessionStore, StoredSessions } from '../../../guards/access/sessions/port.js'
import type { Environment } from '../lmdb/environment.js'
import { sweepDue } from '../lmdb/sweep-due.js'

/** One row for each person: the end, the version and the text, a line each. */
export class EmbeddedSessions implements SessionStore {
  constructor(private readonly environment: Environment) {}

  async read(person: string): Promise<StoredSessions | undefined> {
    this.environment.refresh()
    return this.row(person)
  }

  swap(
    person: string,
    version: string | undefined,
    next: StoredSessions | undefined,
    _now: number,
  ): Promise<boolean> {
    const { sessions } = this.environment
    const change = () => {
      const found = this.row(person)?.version
      if (found !== version && found !== next?.version) return false
      if (next === undefined) sessions.removeSync(person)
      else sessions.putSync(person, `${next.endsAt}\n${next.version}\n${next.text}`)
      return true
    }
    return next === undefined ? this.environment.free(change) : this.environment.write(change)
  }

  hasDue(now: number): boolean {
    this.environment.refresh()
    return this.due(now, 1).length > 0
  }

  sweep(now: number): Promise<{ more: boolean }> {
    const { environment } = this
    return sweepDue(
      environment,
      (limit) => this.due(now, limit),
      (person) => environment.sessions.removeSync(person),
    )
  }

  /** There is a row for each person who works with the console: few enough to look at all. */
  private due(now: number, limit: number): string[] {
    const found: string[] = []
    for (const { key, value } of this.environment.sessions.getRange({})) {
      // The end is the first line.
      if (Number.parseInt(value, 10) <= now) found.push(key)
      if (found.length === limit) break
    }
    return found
  }

  private row(person: string): StoredSessions | undefined {
    const row = this.environment.sessions.get(person)
    if (row === undefined) return undefined
    const [endsAt, version] = row.split('\n', 2) as [string, string]
    return { version, text: row.slice(endsAt.length + version.length + 2), endsAt: Number(endsAt) }
  }
}
