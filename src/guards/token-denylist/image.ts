import { randomBytes } from 'node:crypto'
import { identifier } from '../../core/identifiers.js'
import { CustomerProbe, HASH_KEY_BYTES, hashKey } from '../allowlist/membership/hash.js'
import type { Revocation } from './port.js'
import { TokenTable } from './token-table.js'

interface Mark {
  notBefore: number
  expiresAt: number
}

const SWEPT_SEGMENTS = 8
/** A million subjects are swept within a minute, and no single step takes long. */
const SWEPT_SUBJECTS = 8192
/** A rough figure for a Map entry, its object, and a name of about 36 characters. */
const BYTES_PER_SUBJECT = 180

/**
 * All unexpired revocations, in memory. Tokens are stored as a keyed hash of 64 bits. The probability that a token
 * that was not revoked has the hash of a revoked one is the number of stored tokens divided by 2^64.
 */
export class Image {
  private readonly table = new TokenTable()
  private readonly marks = new Map<string, Mark>()
  /** Position of the sweep. A Map may change during iteration. */
  private unswept = this.marks.entries()
  private readonly probe = new CustomerProbe()
  private readonly key = hashKey(randomBytes(HASH_KEY_BYTES))

  apply(revocations: readonly Revocation[]): void {
    for (const one of revocations) {
      if (one.kind === 'token') this.addToken(one.id, one.expiresAt)
      else this.addMark(one.id, one)
    }
  }

  /** Also validates the identifier. A UUID is valid by its form. */
  holds(jti: string, now: number): boolean {
    const { probe } = this
    if (jti.length !== 36 || !probe.setUuid(jti)) probe.setId(identifier('jti', jti))
    probe.hash(this.key)
    return this.table.find(probe.hi, probe.lo) * 1000 > now
  }

  has(one: Revocation, now: number): boolean {
    return one.kind === 'token' ? this.holds(one.id, now) : this.marks.has(one.id)
  }

  /** `subject` must be in canonical spelling. */
  isBefore(subject: string, issuedAt: number, now: number): boolean {
    const mark = this.marks.get(subject)
    return mark !== undefined && mark.expiresAt > now && issuedAt < mark.notBefore
  }

  /** Drops some expired entries. */
  sweep(now: number): void {
    this.table.sweep(Math.floor(now / 1000), SWEPT_SEGMENTS)
    for (let i = 0; i < SWEPT_SUBJECTS; i++) {
      const { done, value } = this.unswept.next()
      if (done) {
        this.unswept = this.marks.entries()
        return
      }
      const [subject, { expiresAt }] = value
      if (expiresAt <= now) this.marks.delete(subject)
    }
  }

  get figures(): { tokens: number; subjects: number; bytes: number } {
    const { size: tokens, bytes } = this.table
    const { size: subjects } = this.marks
    return { tokens, subjects, bytes: bytes + subjects * BYTES_PER_SUBJECT }
  }

  private addToken(jti: string, expiresAt: number): void {
    this.probe.setId(jti)
    this.probe.hash(this.key)
    this.table.add(this.probe.hi, this.probe.lo, Math.ceil(expiresAt / 1000))
  }

  private addMark(subject: string, { notBefore, expiresAt }: Mark): void {
    const known = this.marks.get(subject)
    this.marks.set(subject, {
      notBefore: Math.max(notBefore, known?.notBefore ?? 0),
      expiresAt: Math.max(expiresAt, known?.expiresAt ?? 0),
    })
  }
}
