import { domainToASCII } from 'node:url'
import { invalid } from '../../core/errors.js'
import { identifier } from '../../core/identifiers.js'
import type { CodeKey } from './port.js'
import { CHANNELS, type Channel, type CodeAddress } from './types.js'

const E164 = /^\+[1-9][0-9]{6,14}$/
/**
 * The characters that RFC 5321 allows unquoted in a mailbox, plus letters of any script (RFC 6531). Except for
 * `#`, none of them is a separator in a stored key. Many scripts have letters with marks that have no composed
 * form, so marks may follow a letter.
 */
const ATOM = "[\\p{L}\\p{N}!#$%&'*+/=?^_`{|}~-][\\p{L}\\p{M}\\p{N}!#$%&'*+/=?^_`{|}~-]*"
const LOCAL = new RegExp(`^${ATOM}(\\.${ATOM})*$`, 'u')
const WRITTEN_DOMAIN = /^[\p{L}\p{M}\p{N}.-]+$/u
const ASCII_DOMAIN =
  /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+(?![0-9]+$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/
const ASCII = /^[!-~]*$/
const MAX_LOCAL_BYTES = 64
const MAX_EMAIL_BYTES = 254
const MAX_INPUT = 1024
const MAX_CODE = 64

/** Error messages name the field and the rule, never the value: it may be a person's address. */
export function codeKey({ channel, address, purpose }: CodeAddress): CodeKey {
  return {
    channel: channelOf(channel),
    address: channel === 'phone' ? phone(address) : email(address),
    purpose: purpose === undefined ? '' : identifier('purpose', purpose),
  }
}

function channelOf(value: unknown): Channel {
  if (!(CHANNELS as readonly unknown[]).includes(value)) {
    throw invalid('channel', `must be one of ${CHANNELS.join(', ')}`)
  }
  return value as Channel
}

function phone(value: unknown): string {
  if (typeof value !== 'string' || !E164.test(value)) {
    throw invalid('address', 'must be a phone number in E.164: + and 7 to 15 digits, without spaces')
  }
  return value
}

function email(value: unknown): string {
  // Normalised last: lower case splits some letters.
  const text =
    typeof value === 'string' && value.length <= MAX_INPUT ? value.toLowerCase().normalize('NFC') : ''
  const at = text.lastIndexOf('@')
  const [local, domain] = [text.slice(0, Math.max(0, at)), asciiDomain(text.slice(at + 1))]
  const address = `${local}@${domain}`
  const fits = Buffer.byteLength(local) <= MAX_LOCAL_BYTES && Buffer.byteLength(address) <= MAX_EMAIL_BYTES
  if (!fits || !LOCAL.test(local) || !ASCII_DOMAIN.test(domain)) {
    throw invalid('address', 'must be an e-mail of at most 254 characters, such as user@example.com')
  }
  return address
}

/** Mail uses this form. Otherwise each spelling of a domain would have its own limits for the same mailbox. */
function asciiDomain(domain: string): string {
  if (ASCII.test(domain)) return domain
  return WRITTEN_DOMAIN.test(domain) ? domainToASCII(domain) : ''
}

/** Any text that a person may have typed. A wrong code is a result, not an error of the caller. */
export function typedCode(value: unknown): string {
  if (typeof value !== 'string' || value.length === 0 || value.length > MAX_CODE) {
    throw invalid('code', `must be a text of 1 to ${MAX_CODE} characters`)
  }
  return value
}
