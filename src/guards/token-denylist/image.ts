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
/** Of a million all are seen within a minute, and none of the turns takes long. */
const SWEPT_SUBJECTS = 8192
/** A rough figure for a Map entry, its object and a name of some 36 characters. */
const BYTES_PER_SUBJECT = 180

/**
 * All revocations that are not over, in memory. Tokens are known by a keyed hash of 64 bits: that one which was not
 * revoked has the hash of one that was happens once in 2^64 divided by how many are kept.
 */
export class Image {
  private readonly table = new TokenTable()
  private readonly marks = new Map<string, Mark>()
  /** Where the sweep stands: a Map may change under its iterator. */
  private unswept = this.marks.entries()
  private readonly probe = new CustomerProbe()
  private readonly key = hashKey(randomBytes(HASH_KEY_BYTES))

  apply(revocations: readonly Revocation[]): void {
    for (const one of revocations) {
      if (one.kind === 'token') this.addToken(one.id, one.expiresAt)
      else this.addMark(one.id, one)
    }
  }

  /** Checks the identifier too; a UUID is one by its form. */
  holds(jti: string, now: number): boolean {
    const { probe } = this
    if (jti.length !== 36 || !probe.setUuid(jti)) probe.setId(identifier('jti', jti))
    probe.hash(this.key)
    return this.table.find(probe.hi, probe.lo) * 1000 > now
  }

  /** Of a token of the subject, which is known by its canonical spelling. */
  isBefore(subject: string, issuedAt: number, now: number): boolean {
    const mark = this.marks.get(subject)
    return mark !== undefined && mark.expiresAt > now && issuedAt < mark.notBefore
  }

  /** Drops some of what is over. */
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
