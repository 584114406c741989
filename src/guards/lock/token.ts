import { hash, randomBytes } from 'node:crypto'
import { invalid } from '../../core/errors.js'

const TOKEN_BYTES = 18
const TOKEN = /^[A-Za-z0-9_-]{1,128}$/
/** Getting random bytes costs more than all the rest, so it is done for many tokens at once. */
const TOKENS_AT_ONCE = 128

let pool = Buffer.alloc(0)
let used = 0

export function newToken(): string {
  if (used + TOKEN_BYTES > pool.length) {
    pool = randomBytes(TOKEN_BYTES * TOKENS_AT_ONCE)
    used = 0
  }
  const token = pool.toString('base64url', used, used + TOKEN_BYTES)
  pool.fill(0, used, used + TOKEN_BYTES)
  used += TOKEN_BYTES
  return token
}

/** The hash of a token. The store sees only this. */
export function ownerOf(token: string): string {
  return hash('sha256', token, 'base64url')
}

export function checkToken(token: unknown): string {
  if (typeof token !== 'string' || !TOKEN.test(token))
    throw invalid('token', 'must be one that an acquire returned')
  return token
}
