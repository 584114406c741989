import { readEntry, writeEntry } from '../../../guards/token-denylist/entry.js'
import type {
  Found,
  LogPart,
  LogPosition,
  Revocation,
  TokenStore,
} from '../../../guards/token-denylist/port.js'
import type { Environment } from '../lmdb/environment.js'
import { sweepDue } from '../lmdb/sweep-due.js'

type Key = (string | number)[]

/**
 * Keys of the database `tokens`: a revocation by its id and by its expiry, log entries by their numbers, and the
 * state of the log.
 */
const rowOf = ({ kind, id }: Pick<Revocation, 'kind' | 'id'>): Key => [kind, id]
const dueOf = (expiresAt: number, { kind, id }: Pick<Revocation, 'kind' | 'id'>): Key => [
  'due',
  expiresAt,
  kind,
  id,
]
const logOf = (sequence: number): Key => ['log', sequence]
const STATE: Key = ['state']

interface LogState {
  /** Numbers of the first and the last stored entry. */
  first: number
  last: number
  bytes: number
}

const READ_ENTRIES = 256
const READ_ROWS = 5000
/** Revoked tokens. In the environment of the lists, and as durable. */
export class EmbeddedTokens implements TokenStore {
  constructor(private readonly environment: Environment) {}

  revoke(revocations: readonly Revocation[]): Promise<void> {
    return this.environment.write(() => {
      for (const one of revocations) this.keep(one)
      this.append(writeEntry(revocations))
    })
  }

  async find(jti: string | undefined, subject: string | undefined, now: number): Promise<Found> {
    this.environment.refresh()
    const token = jti === undefined ? undefined : this.row({ kind: 'token', id: jti })
    const mark = subject === undefined ? undefined : this.row({ kind: 'subject', id: subject })
    const isAlive = mark?.kind === 'subject' && mark.expiresAt > now
    return {
      isRevoked: token !== undefined && token.expiresAt > now,
      notBefore: isAlive ? mark.notBefore : undefined,
      markExpiresAt: isAlive ? mark.expiresAt : undefined,
    }
  }

  async position(): Promise<LogPosition> {
    this.environment.refresh()
    return { sequence: this.state().last, mark: 0 }
  }

  async *all(now: number): AsyncGenerator<Revocation[]> {
    let start: Key = ['due', now + 1]
    while (true) {
      this.environment.refresh()
      const range = { start, end: ['due', Number.MAX_SAFE_INTEGER], limit: READ_ROWS }
      const keys = Array.from(this.environment.tokens.getKeys(range)) as Key[]
      // For a token, the key holds the whole revocation.
      const rows = keys.map(([, expiresAt, kind, id]) =>
        kind === 'token' ? ({ kind, id, expiresAt } as Revocation) : this.row({ kind, id } as Revocation),
      )
      yield rows.filter((row) => row !== undefined)
      if (keys.length < READ_ROWS) return
      // The smallest key after the last one.
      start = [...keys.at(-1)!, '']
    }
  }

  async read({ sequence }: LogPosition): Promise<LogPart | 'gap'> {
    this.environment.refresh()
    const { first, last } = this.state()
    if (sequence > last || sequence + 1 < first) return 'gap'
    const revocations: Revocation[] = []
    const end = Math.min(last, sequence + READ_ENTRIES)
    for (let number = sequence + 1; number <= end; number++) {
      const text = this.environment.tokens.get(logOf(number))
      if (text === undefined) return 'gap'
      revocations.push(...readEntry(text))
    }
    return { revocations, position: { sequence: end, mark: 0 }, more: end < last }
  }

  /** Followers poll often enough, and polling is cheap here. */
  watch(): () => void {
    return () => {}
  }

  hasDue(before: number): boolean {
    this.environment.refresh()
    return this.due(before, 1).length > 0
  }

  sweep(before: number): Promise<{ more: boolean }> {
    const { tokens } = this.environment
    const remove = (key: Key) => {
      const [, , kind, id] = key
      tokens.removeSync(rowOf({ kind, id } as Revocation))
      tokens.removeSync(key)
    }
    return sweepDue(this.environment, (limit) => this.due(before, limit), remove)
  }

  private due(before: number, limit: number): Key[] {
    const range = { start: ['due'], end: ['due', before + 1], limit }
    return Array.from(this.environment.tokens.getKeys(range)) as Key[]
  }

  /** Runs in a write transaction, like all methods below. One row has one due time. */
  private keep(one: Revocation): void {
    const { tokens } = this.environment
    const known = this.row(one)
    const kept: Revocation = { ...one, expiresAt: Math.max(one.expiresAt, known?.expiresAt ?? 0) }
    if (kept.kind === 'subject' && known?.kind === 'subject') {
      kept.notBefore = Math.max(kept.notBefore, known.notBefore)
    }
    if (known !== undefined) tokens.removeSync(dueOf(known.expiresAt, known))
    tokens.putSync(rowOf(kept), writeEntry([kept]))
    tokens.putSync(dueOf(kept.expiresAt, kept), '')
  }

  private append(entry: string): void {
    const { tokens, options } = this.environment
    const state = this.state()
    state.last++
    state.bytes += entry.length
    tokens.putSync(logOf(state.last), entry)
    while (state.bytes > options.maxLogBytes && state.first < state.last) {
      state.bytes -= tokens.get(logOf(state.first))?.length ?? 0
      tokens.removeSync(logOf(state.first++))
    }
    tokens.putSync(STATE, JSON.stringify(state))
  }

  private state(): LogState {
    const text = this.environment.tokens.get(STATE)
    return text === undefined ? { first: 1, last: 0, bytes: 0 } : (JSON.parse(text) as LogState)
  }

  private row(of: Pick<Revocation, 'kind' | 'id'>): Revocation | undefined {
    const text = this.environment.tokens.get(rowOf(of))
    return text === undefined ? undefined : readEntry(text)[0]
  }
}
