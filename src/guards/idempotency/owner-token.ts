import { hash, randomFillSync } from 'node:crypto'
import { invalid } from '../../core/errors.js'

const TOKEN = /^[A-Za-z0-9_-]{16,128}$/

const TOKEN_BYTES = 24
/** Getting random bytes for many tokens costs the same as for one. */
const pool = Buffer.allocUnsafeSlow(TOKEN_BYTES * 256)
let next = pool.length

/** Given only to the caller. */
export function newToken(): string {
  if (next === pool.length) {
    randomFillSync(pool)
    next = 0
  }
  const start = next
  next += TOKEN_BYTES
  const token = pool.toString('base64url', start, next)
  // Erases the token, so that only the caller has it.
  pool.fill(0, start, next)
  return token
}

/** The hash of a token. The store sees only this. */
export function ownerOf(token: string): string {
  return hash('sha256', token)
}

export function checkedToken(token: unknown): string {
  if (typeof token === 'string' && TOKEN.test(token)) return token
  throw invalid('token', 'must be one that a claim returned')
}
