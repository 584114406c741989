import { createHash, randomBytes } from 'node:crypto'
import { invalid } from '../errors.js'

const TOKEN = /^[A-Za-z0-9_-]{16,128}$/

/** Given to the caller only. */
export function newToken(): string {
  return randomBytes(24).toString('base64url')
}

/** What the store knows of a token. */
export function ownerOf(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

export function checkedToken(token: unknown): string {
  if (typeof token === 'string' && TOKEN.test(token)) return token
  throw invalid('token', 'must be one that a claim returned')
}
