import { chunksOf } from '../../../core/chunks.js'
import { byDay, daysBetween, readDays } from '../../../guards/audit/days.js'
import { DAY_MS, dayOf, ID_LENGTH } from '../../../guards/audit/entry-id.js'
import type { AuditPart, AuditStore, Retention, StoredEntry } from '../../../guards/audit/port.js'
import type { Redis } from '../link/redis.js'
import { defineScript } from '../link/script.js'
import { dayKey } from './keys.js'

const APPEND = defineScript('audit-append', { keys: 1, write: true, repeatable: true })

/** Lua limits how many values a script can unpack. */
const APPENDED_AT_ONCE = 100
const LOOKED_AT_ONCE = 31
/** Days that the first sweep of a process checks. Older ones have expired. */
const SWEPT_DAYS = 400

/** The audit trail: one sorted set per day, which expires as a whole. */
export class RedisAudit implements AuditStore {
  /** Days before this one were swept. */
  private sweptTo: number | undefined

  constructor(private readonly redis: Redis) {}

  async append(entries: readonly StoredEntry[], { retentionMs, now }: Retention): Promise<void> {
    const writes: Promise<unknown>[] = []
    for (const [day, ofDay] of byDay(entries)) {
      // Expires a day later than its last entry: the sweep comes first, and frees the memory without blocking the
      // server.
      const leftMs = (day + 2) * DAY_MS + retentionMs - now
      for (const part of chunksOf(ofDay, APPENDED_AT_ONCE)) {
        const members = part.map(({ id, text }) => id + text)
        writes.push(this.redis.run(APPEND, [dayKey(day)], [String(Math.max(1, leftMs)), ...members]))
      }
    }
    await Promise.all(writes)
  }

  async read(below: string, from: string, limit: number): Promise<AuditPart> {
    const { newest, oldest } = daysBetween(below, from)
    const last = Math.max(oldest, newest - LOOKED_AT_ONCE + 1)
    const looked = Array.from({ length: Math.max(0, newest - last + 1) }, (_, i) => newest - i)
    const found = await Promise.all(
      looked.map((day) => this.redis.read(dayKey(day), ['EXISTS', dayKey(day)])),
    )
    const days = looked.filter((_, i) => found[i] === 1)
    return readDays(days, limit, { day: last, isEnd: last <= oldest }, async (day, left) => {
      const args = ['ZREVRANGEBYLEX', dayKey(day), `(${below}`, `[${from}`, 'LIMIT', '0', String(left)]
      const members = (await this.redis.read(dayKey(day), args)) as string[]
      return members.map((member) => ({ id: member.slice(0, ID_LENGTH), text: member.slice(ID_LENGTH) }))
    })
  }

  /** Deletes whole days. Expired entries of the day of `before` are hidden from readers, and deleted with their day. */
  async sweep(before: number): Promise<{ more: boolean }> {
    const end = dayOf(before)
    const start = this.sweptTo ?? end - SWEPT_DAYS
    if (start >= end) return { more: false }
    const days = Array.from({ length: end - start }, (_, i) => dayKey(start + i))
    await Promise.all(days.map((key) => this.redis.write(key, ['UNLINK', key])))
    this.sweptTo = end
    return { more: false }
  }
}
