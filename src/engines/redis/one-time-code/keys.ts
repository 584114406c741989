import type { CodeKey } from '../../../guards/one-time-code/port.js'

/**
 * `otp:email:user@example.com`, and with a purpose `otp:email:user@example.com:login`. An address holds no `:`, so the
 * purpose begins at the third; a brace in it would choose the slot, and a percent sign be taken for an encoding.
 */
export const codeRedisKey = ({ channel, address, purpose }: CodeKey): string =>
  `otp:${channel}:${encoded(address)}${purpose === '' ? '' : `:${purpose}`}`

const encoded = (address: string): string =>
  address.replace(/[%{}]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
