import type { CodeKey } from '../../../guards/one-time-code/port.js'
import { PREFIX } from '../keys.js'

/**
 * `otp:email:user@example.com`, and with a purpose `otp:email:user@example.com:login`. An address contains no `:`, so
 * the purpose begins at the third. Braces, which would choose the slot, and percent signs in an address are encoded.
 */
export const codeRedisKey = ({ channel, address, purpose }: CodeKey): string =>
  `${PREFIX.codes}:${channel}:${encoded(address)}${purpose === '' ? '' : `:${purpose}`}`

const encoded = (address: string): string =>
  address.replace(/[%{}]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
