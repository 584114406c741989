import { invalid } from '../../core/errors.js'

const MAX_REASON = 500
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a reason must not have.
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f]/

/** Validates why somebody makes a change. */
export function parseReason(path: string, value: unknown): string {
  const reason = typeof value === 'string' ? value.trim() : ''
  if (reason === '' || reason.length > MAX_REASON || CONTROL.test(reason)) {
    throw invalid(path, `must be 1 to ${MAX_REASON} characters, without control characters`)
  }
  return reason
}
