import { unavailability } from '../../core/deadlines.js'
import { CatracaError } from '../../core/errors.js'
import type { Validity } from './options.js'
import type { AcquiredLock } from './types.js'

export function acquired(
  name: string,
  token: string,
  fence: number | undefined,
  expiresAt: string,
  { validForMs, validUntilMs }: Validity,
): AcquiredLock {
  return fence === undefined
    ? { acquired: true, name, token, expiresAt, validForMs, validUntilMs }
    : { acquired: true, name, token, fence, expiresAt, validForMs, validUntilMs }
}

export const closed = (): CatracaError => new CatracaError('CLOSED', 'this instance was closed')

export function unavailable(cause: unknown): CatracaError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new CatracaError(unavailability(cause), `the lock cannot be acquired: ${reason}`, { cause })
}
