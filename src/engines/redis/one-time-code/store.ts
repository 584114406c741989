import type {
  Attempt,
  AttemptOutcome,
  CodeKey,
  CodeStore,
  NewCode,
  PendingCode,
} from '../../../guards/one-time-code/port.js'
import { PREFIX } from '../keys.js'
import { foreign, isForeign } from '../link/failures.js'
import type { Redis } from '../link/redis.js'
import { defineScript } from '../link/script.js'
import type { LimitClock } from '../rate-limit/index.js'
import { codeRedisKey } from './keys.js'

const uses = ['clock']
const PUT = defineScript('code-put', { keys: ['hash'], write: true, uses })
const ATTEMPT = defineScript('code-attempt', { keys: 1, write: true, uses })

const REVOKE = defineScript('code-revoke', { keys: 1, write: true, uses })

const OUTCOMES: readonly AttemptOutcome[] = ['wrong', 'match', 'replaced', 'used']

/** One hash per code, which expires. */
export class RedisCodes implements CodeStore {
  constructor(
    private readonly redis: Redis,
    private readonly clock: LimitClock,
  ) {}

  async put(key: CodeKey, { salt, digest, lifeMs }: NewCode, now: number): Promise<{ expiresAt: number }> {
    const args = [salt, digest, String(lifeMs), this.time(now)]
    try {
      return { expiresAt: (await this.redis.run(PUT, [codeRedisKey(key)], args)) as number }
    } catch (error) {
      // Without the address, which must not get into logs.
      if (isForeign(error)) throw foreign(`${PREFIX.codes}:${key.channel}:…`, 'something other than a code')
      throw error
    }
  }

  /** Also of an expired code. The attempt then reports that it expired. */
  async salt(key: CodeKey): Promise<string | undefined> {
    return (await this.fields(key, 'salt'))[0] ?? undefined
  }

  async peek(key: CodeKey, now: number): Promise<PendingCode | undefined> {
    const [end, attempts, hash] = await this.fields(key, 'expiresAt', 'attempts', 'hash')
    const expiresAt = Number(end)
    // With the server's clock, a key that still exists has not expired. A used code has no hash any more.
    if (!hash || (this.clock === 'caller' && expiresAt <= now)) return undefined
    return { expiresAt, attempts: Number(attempts) }
  }

  async revoke(key: CodeKey, now: number): Promise<boolean> {
    return (await this.redis.run(REVOKE, [codeRedisKey(key)], [this.time(now)])) === 1
  }

  private async fields(key: CodeKey, ...names: string[]): Promise<(string | null)[]> {
    const name = codeRedisKey(key)
    try {
      return (await this.redis.read(name, ['HMGET', name, ...names])) as (string | null)[]
    } catch (error) {
      // A program with the key layout of the source design has a code there, which is not ours.
      if (isForeign(error)) return names.map(() => null)
      throw error
    }
  }

  async attempt(key: CodeKey, attempt: Attempt, now: number): Promise<AttemptOutcome> {
    const { salt, digests, maxAttempts } = attempt
    const args = [salt, String(maxAttempts), this.time(now), ...digests]
    return OUTCOMES[(await this.redis.run(ATTEMPT, [codeRedisKey(key)], args)) as number]!
  }

  /** All keys expire. */
  async sweep(): Promise<{ more: boolean }> {
    return { more: false }
  }

  private time(now: number): string {
    return this.clock === 'caller' ? String(now) : ''
  }
}
