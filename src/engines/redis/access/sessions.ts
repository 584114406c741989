import type { SessionStore, StoredSessions } from '../../../guards/access/sessions/port.js'
import type { Redis } from '../link/redis.js'
import { defineScript } from '../link/script.js'
import { sessionsKey } from './keys.js'

const SWAP = defineScript('session-swap', { keys: ['hash'], write: true, repeatable: true })

/** One hash for each person, which expires with the last session. */
export class RedisSessions implements SessionStore {
  constructor(private readonly redis: Redis) {}

  async read(person: string): Promise<StoredSessions | undefined> {
    const key = sessionsKey(person)
    const [version, text, endsAt] = (await this.redis.read(key, [
      ...['HMGET', key],
      ...['version', 'text', 'endsAt'],
    ])) as (string | null)[]
    if (!version || !text) return undefined
    return { version, text, endsAt: Number(endsAt) }
  }

  async swap(
    person: string,
    version: string | undefined,
    next: StoredSessions | undefined,
    now: number,
  ): Promise<boolean> {
    const record =
      next === undefined
        ? []
        : [next.version, next.text, String(next.endsAt), String(Math.max(1, next.endsAt - now))]
    const args = [version ?? '', ...record]
    return (await this.redis.run(SWAP, [sessionsKey(person)], args)) === 1
  }

  /** Redis expires them. */
  async sweep(): Promise<{ more: boolean }> {
    return { more: false }
  }
}
