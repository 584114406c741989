import type { Argument } from './redis.js'

const CRLF = '\r\n'
/** `$LENGTH` of short arguments, which are nearly all. */
const LENGTHS = Array.from({ length: 256 }, (_, length) => `$${length}${CRLF}`)
const lengthOf = (length: number): string => LENGTHS[length] ?? `$${length}${CRLF}`

/**
 * A command of ASCII text in the protocol of Redis; undefined if an argument is something else. The length is checked once
 * for all arguments: `Buffer.byteLength` of each would cost more than the rest.
 */
export function encodeAscii(args: readonly Argument[]): string | undefined {
  let text = `*${args.length}${CRLF}`
  for (let i = 0; i < args.length; i++) {
    const arg = args[i]!
    if (typeof arg !== 'string') return undefined
    text += lengthOf(arg.length) + arg + CRLF
  }
  return Buffer.byteLength(text) === text.length ? text : undefined
}

/** Any command, in pieces: text and the Buffers between it. */
export function encodeCommand(args: readonly Argument[]): Argument[] {
  const pieces: Argument[] = []
  let text = `*${args.length}${CRLF}`
  for (const arg of args) {
    if (typeof arg === 'string') text += lengthOf(Buffer.byteLength(arg)) + arg + CRLF
    else {
      pieces.push(text + lengthOf(arg.length), arg)
      text = CRLF
    }
  }
  pieces.push(text)
  return pieces
}
