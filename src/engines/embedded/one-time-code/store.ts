import { timingSafeEqual } from 'node:crypto'
import type {
  Attempt,
  AttemptOutcome,
  CodeKey,
  CodeStore,
  NewCode,
  PendingCode,
} from '../../../guards/one-time-code/port.js'
import type { Environment } from '../lmdb/environment.js'
import { sweepDue } from '../lmdb/sweep-due.js'

interface StoredCode {
  salt: string
  /** Empty after the code was used. */
  digest: string
  /** The digest of a code that was used. */
  used?: string
  attempts: number
  expiresAt: number
}

/** Keys of the database `codes`: a code by channel, address and purpose, and by its expiry. */
const codeOf = ({ channel, address, purpose }: CodeKey) => ['code', channel, address, purpose]
const dueOf = (expiresAt: number, { channel, address, purpose }: CodeKey) => {
  return ['due', expiresAt, channel, address, purpose]
}

const NO_CODE = ['none']
/** One-time codes. In the environment of the lists, and as durable, so that a used code never comes back. */
export class EmbeddedCodes implements CodeStore {
  constructor(private readonly environment: Environment) {}

  put(key: CodeKey, { salt, digest, lifeMs }: NewCode, now: number): Promise<{ expiresAt: number }> {
    const { codes } = this.environment
    return this.environment.write(() => {
      this.forget(key)
      const expiresAt = now + lifeMs
      const stored: StoredCode = { salt, digest, attempts: 0, expiresAt }
      this.keep(key, stored)
      codes.putSync(dueOf(expiresAt, key), '')
      return { expiresAt }
    })
  }

  async salt(key: CodeKey, now: number): Promise<string | undefined> {
    this.environment.refresh()
    return this.living(key, now)?.salt
  }

  attempt(key: CodeKey, { salt, digests, maxAttempts }: Attempt, now: number): Promise<AttemptOutcome> {
    return this.environment.write(() => {
      const stored = this.living(key, now)
      if (stored === undefined) return this.countNothing('wrong')
      const isOne = (of: string) => digests.some((digest) => isSame(digest, of))
      if (stored.used !== undefined && stored.salt === salt && isOne(stored.used)) {
        return this.countNothing('used')
      }
      if (stored.attempts >= maxAttempts) return this.countNothing('wrong')
      if (stored.salt !== salt) return 'replaced'
      const isMatch = isOne(stored.digest)
      this.keep(
        key,
        isMatch
          ? { ...stored, digest: '', used: stored.digest }
          : { ...stored, attempts: stored.attempts + 1 },
      )
      return isMatch ? 'match' : 'wrong'
    })
  }

  private keep(key: CodeKey, code: StoredCode): void {
    this.environment.codes.putSync(codeOf(key), JSON.stringify(code))
  }

  async peek(key: CodeKey, now: number): Promise<PendingCode | undefined> {
    this.environment.refresh()
    const stored = this.living(key, now)
    if (stored === undefined || stored.used !== undefined) return undefined
    return { expiresAt: stored.expiresAt, attempts: stored.attempts }
  }

  revoke(key: CodeKey, now: number): Promise<boolean> {
    return this.environment.free(() => {
      const stored = this.living(key, now)
      this.forget(key)
      return stored !== undefined && stored.used === undefined
    })
  }

  /**
   * A transaction that changes nothing does not wait for the disk: its short time would reveal that there is no code.
   */
  private countNothing(outcome: AttemptOutcome): AttemptOutcome {
    const { codes } = this.environment
    codes.putSync(NO_CODE, String((Number(codes.get(NO_CODE) ?? 0) + 1) % 1_000_000))
    return outcome
  }

  hasDue(now: number): boolean {
    this.environment.refresh()
    return this.due(now, 1).length > 0
  }

  sweep(now: number): Promise<{ more: boolean }> {
    const { codes } = this.environment
    const remove = (key: (string | number)[]) => {
      const [, , channel, address, purpose] = key as [string, number, CodeKey['channel'], string, string]
      const code = { channel, address, purpose }
      // A newer code may have replaced it, with its own due time.
      if (this.living(code, now) === undefined) codes.removeSync(codeOf(code))
      codes.removeSync(key)
    }
    return sweepDue(this.environment, (limit) => this.due(now, limit), remove)
  }

  private due(now: number, limit: number): (string | number)[][] {
    const range = { start: ['due'], end: ['due', now + 1], limit }
    return Array.from(this.environment.codes.getKeys(range))
  }

  private forget(key: CodeKey): void {
    const { codes } = this.environment
    const text = codes.get(codeOf(key))
    if (text === undefined) return
    codes.removeSync(dueOf((JSON.parse(text) as StoredCode).expiresAt, key))
    codes.removeSync(codeOf(key))
  }

  private living(key: CodeKey, now: number): StoredCode | undefined {
    const text = this.environment.codes.get(codeOf(key))
    const stored = text === undefined ? undefined : (JSON.parse(text) as StoredCode)
    return stored !== undefined && stored.expiresAt > now ? stored : undefined
  }
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}
