import assert from 'node:assert/strict'
import { CatracaApiError } from '../../src/client/index.js'

/** The error that a call must end in. */
export async function caught(call: Promise<unknown>): Promise<CatracaApiError> {
  const error = await call.then(
    () => assert.fail('it was answered'),
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof CatracaApiError, String(error))
  return error
}
