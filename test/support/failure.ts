import assert from 'node:assert/strict'
import { CatracaError, type ErrorCode } from '../../src/core/errors.js'

/** The error of an attempt that must fail in this way. */
export async function failure(attempt: Promise<unknown>, code: ErrorCode): Promise<CatracaError> {
  const error = await attempt.then(
    () => assert.fail(`it should have failed with ${code}`),
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof CatracaError, String(error))
  assert.equal(error.code, code, error.message)
  return error
}
