import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { CatracaError } from '../../core/errors.js'
import { ALGORITHMS, type Rule } from './rule.js'
import type { Subject } from './types.js'

/** Everything that is needed to give a lease back, so that nothing is stored for it. */
export interface LeaseContent {
  takenAt: number
  expiresAt: number
  subjects: readonly (Subject & { limits: readonly { name: string; rule: Rule; cost: number }[] })[]
}

export interface Lease extends LeaseContent {
  /** Globally unique; not secret. */
  id: string
}

const VERSION = 1
const SALT_BYTES = 16
const COUNTER_BYTES = 12
const TAG_BYTES = 16
const HEAD_BYTES = 1 + SALT_BYTES + COUNTER_BYTES
/** More than the longest token: all limits of four layers, twice, with the longest names. */
const MAX_TOKEN_CHARACTERS = 131_072
const MAX_KEYS = 1000

/**
 * Encrypts leases with AES-256-GCM. Each process has its own key, derived from the secret and a random salt, and counts
 * its nonces. So no nonce repeats, however many leases there are, and salt and nonce together identify the lease.
 */
export class LeaseSealer {
  private readonly salt = randomBytes(SALT_BYTES)
  private readonly keys = new Map<string, Buffer>()
  private readonly ownKey: Buffer
  private issued = 0

  constructor(private readonly secret: Uint8Array) {
    this.ownKey = deriveKey(secret, this.salt)
  }

  /**
   * The number of a new lease. Encrypting costs more than a decision in memory, so it is done only if the caller
   * reads the token.
   */
  reserve(): number {
    return ++this.issued
  }

  leaseOf(number: number, content: LeaseContent): Lease {
    return { id: this.head(number).subarray(1).toString('base64url'), ...content }
  }

  private head(number: number): Buffer {
    const head = Buffer.alloc(HEAD_BYTES)
    head[0] = VERSION
    this.salt.copy(head, 1)
    head.writeUIntBE(number, HEAD_BYTES - 6, 6)
    return head
  }

  /** At most once per number, because the nonce is derived from it. */
  seal(number: number, content: LeaseContent): string {
    const head = this.head(number)
    const cipher = createCipheriv('aes-256-gcm', this.ownKey, head.subarray(1 + SALT_BYTES))
    cipher.setAAD(head)
    const body = Buffer.concat([cipher.update(JSON.stringify(pack(content))), cipher.final()])
    return Buffer.concat([head, body, cipher.getAuthTag()]).toString('base64url')
  }

  /** Throws LEASE_NOT_FOUND for a token that was not encrypted with this secret. */
  open(token: unknown): Lease {
    if (typeof token !== 'string' || token.length > MAX_TOKEN_CHARACTERS) throw unknownLease()
    const bytes = Buffer.from(token, 'base64url')
    // Only the canonical base64url spelling was ever given out.
    if (bytes.length < HEAD_BYTES + TAG_BYTES || bytes.toString('base64url') !== token) throw unknownLease()
    const head = bytes.subarray(0, HEAD_BYTES)
    if (head[0] !== VERSION) throw unknownLease()
    try {
      const key = this.keyOf(head.subarray(1, 1 + SALT_BYTES))
      const cipher = createDecipheriv('aes-256-gcm', key, head.subarray(1 + SALT_BYTES))
      cipher.setAAD(head)
      cipher.setAuthTag(bytes.subarray(bytes.length - TAG_BYTES))
      const body = bytes.subarray(HEAD_BYTES, bytes.length - TAG_BYTES)
      const text = Buffer.concat([cipher.update(body), cipher.final()]).toString('utf8')
      return { id: head.subarray(1).toString('base64url'), ...unpack(JSON.parse(text) as Packed) }
    } catch (cause) {
      throw unknownLease(cause)
    }
  }

  private keyOf(salt: Uint8Array): Buffer {
    const name = Buffer.from(salt).toString('base64url')
    const known = this.keys.get(name)
    if (known !== undefined) return known
    // Callers choose the salt, so the map must be bounded.
    if (this.keys.size >= MAX_KEYS) this.keys.clear()
    const key = deriveKey(this.secret, salt)
    this.keys.set(name, key)
    return key
  }
}

function deriveKey(secret: Uint8Array, salt: Uint8Array): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, salt, 'catraca lease', 32))
}

function unknownLease(cause?: unknown): CatracaError {
  return new CatracaError('LEASE_NOT_FOUND', 'this is not a lease that an acquire returned', { cause })
}

type PackedLimit = [name: string, cost: number, algorithm: number, ...rule: number[]]
type Packed = [takenAt: number, expiresAt: number, subjects: [string, string, PackedLimit[]][]]

function pack({ takenAt, expiresAt, subjects }: LeaseContent): Packed {
  return [
    takenAt,
    expiresAt,
    subjects.map(({ entity, resource, limits }) => [
      entity,
      resource,
      limits.map(({ name, cost, rule }) => [
        name,
        cost,
        ALGORITHMS.indexOf(rule.algorithm),
        rule.capacity,
        rule.periodMs,
        rule.unitsPerMs,
        rule.unitsPerToken,
      ]),
    ]),
  ]
}

function unpack([takenAt, expiresAt, subjects]: Packed): LeaseContent {
  return {
    takenAt,
    expiresAt,
    subjects: subjects.map(([entity, resource, limits]) => ({
      entity,
      resource,
      limits: limits.map(([name, cost, algorithm, ...rule]) => {
        const [capacity, periodMs, unitsPerMs, unitsPerToken] = rule as [number, number, number, number]
        return {
          name,
          cost,
          rule: { algorithm: ALGORITHMS[algorithm]!, capacity, periodMs, unitsPerMs, unitsPerToken },
        }
      }),
    })),
  }
}
