import { CatracaError } from '../../core/errors.js'
import type { Revocation } from './port.js'

/** A log entry as text: `[["t",jti,expiresAt],["s",subject,expiresAt,notBefore]]`. */
export function writeEntry(revocations: readonly Revocation[]): string {
  return JSON.stringify(
    revocations.map((one) =>
      one.kind === 'token' ? ['t', one.id, one.expiresAt] : ['s', one.id, one.expiresAt, one.notBefore],
    ),
  )
}

export function readEntry(text: string): Revocation[] {
  let rows: unknown
  try {
    rows = JSON.parse(text)
  } catch (cause) {
    throw new CatracaError('STORE_CORRUPT', 'an entry of the log of revoked tokens cannot be read', { cause })
  }
  return (rows as [string, string, number, number][]).map(([kind, id, expiresAt, notBefore]) =>
    kind === 't' ? { kind: 'token', id, expiresAt } : { kind: 'subject', id, expiresAt, notBefore },
  )
}
