import { invalid } from './errors.js'

/**
 * Identifiers: 1 to 256 characters. Except for `:`, which the storage layouts percent-encode, none of them is a
 * separator in a stored key. So no identifier can forge a key.
 */
const IDENTIFIER = /^[A-Za-z0-9._~:@+=-]{1,256}$/
const NAME = /^[A-Za-z0-9._~@+=-]{1,256}$/
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const UPPER_HEX = /[A-F]/

const IDENTIFIER_RULE = 'must be 1 to 256 characters of A-Z a-z 0-9 . _ ~ : @ + = - and not . or ..'
const NAME_RULE = 'must be 1 to 256 characters of A-Z a-z 0-9 . _ ~ @ + = - and not . or ..'

const MISSING = 'must be given'

const isDots = (value: string): boolean => value === '.' || value === '..'

/** Validates an identifier and returns its canonical spelling: UUIDs in lower case. */
export function identifier(path: string, value: unknown): string {
  if (typeof value !== 'string' || !IDENTIFIER.test(value) || isDots(value)) {
    throw invalid(path, value === undefined ? MISSING : IDENTIFIER_RULE)
  }
  return canonical(value)
}

/** Like `identifier`, without `:`: list ids, resource and limit names. */
export function plainName(path: string, value: unknown): string {
  if (typeof value !== 'string' || !NAME.test(value) || isDots(value)) {
    throw invalid(path, value === undefined ? MISSING : NAME_RULE)
  }
  return canonical(value)
}

export function isUuid(value: string): boolean {
  return value.length === 36 && UUID.test(value)
}

/** UUIDs are case-insensitive; other identifiers are case-sensitive. */
function canonical(value: string): string {
  return value.length === 36 && UPPER_HEX.test(value) && UUID.test(value) ? value.toLowerCase() : value
}
