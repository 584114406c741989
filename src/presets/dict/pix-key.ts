import { invalid } from '../../core/errors.js'

export const KEY_TYPES = ['CPF', 'CNPJ', 'PHONE', 'EMAIL', 'EVP'] as const
export type KeyType = (typeof KEY_TYPES)[number]

export interface PixKey {
  key_type: KeyType
  key_value: string
}

const MAX_EMAIL = 77

/**
 * Normalises a key to its stored spelling. Error messages contain the rule and never the value, which is personal data.
 */
export function pixKey({ key_type, key_value }: PixKey): PixKey {
  if (!KEY_TYPES.includes(key_type)) throw invalid('key_type', `must be one of ${KEY_TYPES.join(', ')}`)
  if (typeof key_value !== 'string') throw invalid('key_value', 'must be a string')
  return { key_type, key_value: SPELLINGS[key_type](key_value) }
}

const SPELLINGS: Record<KeyType, (value: string) => string> = {
  CPF: (value) => cpf(value),
  CNPJ: (value) => cnpj(value),
  PHONE: phone,
  EMAIL: email,
  EVP: evp,
}

export function cpf(value: string, path = 'key_value'): string {
  if (typeof value !== 'string' || !/^\d{11}$/.test(value))
    throw invalid(path, 'must be a CPF: 11 digits without points or dashes')
  if (isOneDigit(value) || !hasCheckDigits(value, 11, 12)) {
    throw invalid(path, 'is no CPF: its check digits are wrong')
  }
  return value
}

/** The numeric form, or the form with letters, whose check digits are also digits. */
export function cnpj(value: string, path = 'key_value'): string {
  // Checked before the case is changed, which can turn other letters into ASCII ones.
  if (typeof value !== 'string' || !/^[0-9A-Za-z]{12}\d{2}$/.test(value)) {
    const rule = 'must be a CNPJ: 12 digits or letters and 2 digits, without points, slash or dash'
    throw invalid(path, rule)
  }
  const upper = value.toUpperCase()
  if (isOneDigit(upper) || !hasCheckDigits(upper, 9, 9)) {
    throw invalid(path, 'is no CNPJ: its check digits are wrong')
  }
  return upper
}

function phone(value: string): string {
  if (!/^\+55[1-9][1-9](9\d{8}|[2-5]\d{7})$/.test(value)) {
    throw invalid('key_value', 'must be a Brazilian phone number: +55, area code, and 8 or 9 digits')
  }
  return value
}

function email(value: string): string {
  const lower = value.toLowerCase()
  if (lower.length > MAX_EMAIL)
    throw invalid('key_value', `must be an e-mail address of at most ${MAX_EMAIL}`)
  const isAddress = /^[A-Za-z0-9.!#$&'*+/=?^_`{|}~-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*$/.test(value)
  if (!isAddress) throw invalid('key_value', 'must be an e-mail address, without accents, spaces or quotes')
  return lower
}

function evp(value: string): string {
  const lower = value.toLowerCase()
  if (!/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(lower)) {
    throw invalid('key_value', 'must be a random key: a UUID of version 4')
  }
  return lower
}

const isOneDigit = (value: string): boolean => /^(\d)\1*$/.test(value)

/**
 * The last two digits are check digits. Each is computed from the sum of all characters before it, weighted from 2
 * upwards from the right, and restarting at 2 after `longest`. A letter counts as its distance from the character 0.
 */
function hasCheckDigits(value: string, ...longest: [first: number, second: number]): boolean {
  return longest.every((last, i) => {
    const length = value.length - 2 + i
    let sum = 0
    for (let at = length - 1, weight = 2; at >= 0; at--, weight = weight === last ? 2 : weight + 1) {
      sum += (value.charCodeAt(at) - 48) * weight
    }
    const rest = sum % 11
    return value.charCodeAt(length) - 48 === (rest < 2 ? 0 : 11 - rest)
  })
}

/**
 * The key as used in cache names. Each character that a name does not allow becomes `=` and its code in two
 * hexadecimal digits. `=` itself is encoded too, so no two addresses share a name.
 */
export function keyName({ key_type, key_value }: PixKey): string {
  const name = key_value.replace(
    /[^A-Za-z0-9._~@+-]/g,
    (c) => `=${c.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `${key_type}:${name}`
}
