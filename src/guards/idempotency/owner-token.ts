import { hash, randomFillSync } from 'node:crypto'
import { invalid } from '../../core/errors.js'

const TOKEN = /^[A-Za-z0-9_-]{16,128}$/

const TOKEN_BYTES = 24
/** Asking for random bytes costs the same for one token as for many. */
const pool = Buffer.allocUnsafeSlow(TOKEN_BYTES * 256)
let next = pool.length

/** Given to the caller only. */
export function newToken(): string {
  if (next === pool.length) {
    randomFillSync(pool)
    next = 0
  }
  const start = next
  next += TOKEN_BYTES
  const token = pool.toString('base64url', start, next)
  // What was given away is in nobody's memory but the caller's.
  pool.fill(0, start, next)
  return token
}

/** What the store knows of a token. */
export function ownerOf(token: string): string {
  return hash('sha256', token)
}

export function checkedToken(token: unknown): string {
  if (typeof token === 'string' && TOKEN.test(token)) return token
  throw invalid('token', 'must be one that a claim returned')
}
