import { CatracaError } from '../errors.js'
import type { AcquiredLock } from './types.js'

export function acquired(
  name: string,
  token: string,
  fence: number | undefined,
  expiresAt: string,
  validForMs: number,
): AcquiredLock {
  return fence === undefined
    ? { acquired: true, name, token, expiresAt, validForMs }
    : { acquired: true, name, token, fence, expiresAt, validForMs }
}

export const closed = (): CatracaError => new CatracaError('CLOSED', 'this instance was closed')

export function unavailable(cause: unknown): CatracaError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new CatracaError('ENGINE_UNAVAILABLE', `the lock cannot be had: ${reason}`, { cause })
}
