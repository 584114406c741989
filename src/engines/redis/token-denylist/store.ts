import { randomInt } from 'node:crypto'
import { readEntry, writeEntry } from '../../../guards/token-denylist/entry.js'
import type {
  Found,
  LogPart,
  LogPosition,
  Revocation,
  TokenStore,
} from '../../../guards/token-denylist/port.js'
import type { Redis } from '../link/redis.js'
import { defineScript } from '../link/script.js'
import { TokenCopies } from './copies.js'
import {
  LOG_KEY,
  LOG_STATE_KEY,
  MARKS_KEY,
  SUBJECTS_KEY,
  TOKENS_KEY,
  tokenChannel,
  UNCOPIED_KEY,
} from './keys.js'

const REVOKE = defineScript('token-revoke', {
  keys: ['zset', 'zset', 'hash', 'zset', 'stream', 'hash'],
  write: true,
  uses: ['change-log'],
  together: 1,
})
const SWEEP = defineScript('token-sweep', { keys: ['zset', 'zset', 'hash'], write: true })

const READ_ENTRIES = 64
const READ_ROWS = 5000
const SWEPT_AT_ONCE = 1000

type Entry = [id: string, fields: [string, string]]

/** Revoked tokens and their log in one slot, followed by one key per revocation that other programs can read. */
export class RedisTokens implements TokenStore {
  private readonly copies: TokenCopies
  private readonly channel: string

  constructor(
    private readonly redis: Redis,
    database: number,
    private readonly maxLogBytes: number,
  ) {
    this.copies = new TokenCopies(redis)
    this.channel = tokenChannel(database)
  }

  async revoke(revocations: readonly Revocation[], now: number): Promise<void> {
    const keys = [TOKENS_KEY, SUBJECTS_KEY, MARKS_KEY, UNCOPIED_KEY, LOG_KEY, LOG_STATE_KEY]
    const head = [writeEntry(revocations), randomInt(1, 2 ** 31), this.maxLogBytes, this.channel, now]
    const each = revocations.flatMap((one) =>
      one.kind === 'token' ? ['t', one.id, one.expiresAt, 0] : ['s', one.id, one.expiresAt, one.notBefore],
    )
    await this.redis.run(REVOKE, keys, [...head, ...each].map(String))
    // The revocation is effective now. The sweep makes a copy that fails.
    await this.copies.make(revocations).catch(() => {})
  }

  async find(jti: string | undefined, subject: string | undefined, now: number): Promise<Found> {
    const [token, expiresAt, notBefore] = (await this.redis.readInOrder(TOKENS_KEY, [
      ['ZSCORE', TOKENS_KEY, jti ?? ''],
      ['ZSCORE', SUBJECTS_KEY, subject ?? ''],
      ['HGET', MARKS_KEY, subject ?? ''],
    ])) as (string | number | null)[]
    const isMarked = Number(expiresAt ?? 0) > now
    return {
      isRevoked: Number(token ?? 0) > now,
      notBefore: isMarked ? Number(notBefore ?? 0) : undefined,
      markExpiresAt: isMarked ? Number(expiresAt) : undefined,
    }
  }

  async position(): Promise<LogPosition> {
    const args = ['HMGET', LOG_STATE_KEY, 'sequence', 'mark']
    const [sequence, mark] = (await this.redis.read(LOG_STATE_KEY, args)) as (string | null)[]
    return { sequence: Number(sequence ?? 0), mark: Number(mark ?? 0) }
  }

  async *all(now: number): AsyncGenerator<Revocation[]> {
    const notBefore = await this.marks()
    for await (const rows of this.rows(SUBJECTS_KEY, now)) {
      yield rows.map(([id, expiresAt]) => ({
        kind: 'subject',
        id,
        expiresAt,
        // A mark that was set after the marks were read is in the log.
        notBefore: notBefore.get(id) ?? 0,
      }))
    }
    for await (const rows of this.rows(TOKENS_KEY, now)) {
      yield rows.map(([id, expiresAt]) => ({ kind: 'token', id, expiresAt }))
    }
  }

  private async marks(): Promise<Map<string, number>> {
    const marks = new Map<string, number>()
    let cursor = '0'
    do {
      const args = ['HSCAN', MARKS_KEY, cursor, 'COUNT', String(READ_ROWS)]
      const [next, found] = (await this.redis.read(MARKS_KEY, args)) as [string, string[]]
      for (let i = 0; i < found.length; i += 2) marks.set(found[i]!, Number(found[i + 1]))
      cursor = next
    } while (cursor !== '0')
    return marks
  }

  /**
   * By SCAN, which returns every entry that exists from its beginning to its end. Some may come twice, which does no
   * harm.
   */
  private async *rows(key: string, now: number): AsyncGenerator<[string, number][]> {
    let cursor = '0'
    do {
      const args = ['ZSCAN', key, cursor, 'COUNT', String(READ_ROWS)]
      const [next, found] = (await this.redis.read(key, args)) as [string, string[]]
      const rows: [string, number][] = []
      for (let i = 0; i < found.length; i += 2) {
        const expiresAt = Number(found[i + 1])
        if (expiresAt > now) rows.push([found[i]!, expiresAt])
      }
      yield rows
      cursor = next
    } while (cursor !== '0')
  }

  /** Starts at the reader's last entry. If it is missing, or another entry has its number, data was lost. */
  async read({ sequence, mark }: LogPosition): Promise<LogPart | 'gap'> {
    const from = sequence === 0 ? '-' : `${sequence}-${mark}`
    const args = ['XRANGE', LOG_KEY, from, '+', 'COUNT', String(READ_ENTRIES + 1)]
    const found = (await this.redis.read(LOG_KEY, args)) as Entry[]
    const entries = found.map(([id, [, text]]) => ({ ...positionOf(id), text }))
    if (sequence > 0) {
      const own = entries.shift()
      if (own?.sequence !== sequence || own.mark !== mark) return 'gap'
    }
    if (entries.some((entry, i) => entry.sequence !== sequence + 1 + i)) return 'gap'
    const last = entries.at(-1)
    return {
      revocations: entries.flatMap(({ text }) => readEntry(text)),
      position: last === undefined ? { sequence, mark } : { sequence: last.sequence, mark: last.mark },
      more: found.length > READ_ENTRIES,
    }
  }

  watch(wake: () => void): () => void {
    const subscribed = this.redis.subscribe(this.channel, wake, (interruption) => {
      if (interruption === 'resumed') wake()
    })
    // Without the subscription, changes are seen a little later, by polling.
    subscribed.catch(() => {})
    return () => void subscribed.then((unsubscribe) => unsubscribe()).catch(() => {})
  }

  async sweep(before: number): Promise<{ more: boolean }> {
    const args = [String(before), String(SWEPT_AT_ONCE)]
    const dropped = (await this.redis.run(SWEEP, [TOKENS_KEY, SUBJECTS_KEY, MARKS_KEY], args)) as number
    const { more } = await this.copies.repair(before)
    return { more: more || dropped === SWEPT_AT_ONCE }
  }
}

function positionOf(id: string): LogPosition {
  const [sequence, mark] = id.split('-').map(Number)
  return { sequence: sequence!, mark: mark! }
}
