import { CatracaError, invalid } from '../../core/errors.js'
import { endOfString } from '../../core/json-text.js'

/** Deeper than any real body, and shallow enough for whatever walks through it. */
const MAX_DEPTH = 100

const QUOTE = 0x22
const COMMA = 0x2c
const OPENING = [0x5b, 0x7b] as const
const CLOSING = [0x5d, 0x7d] as const

/**
 * Why a JSON text must not be parsed; undefined when it may be. A megabyte of small values takes a hundred times as long
 * to build, check and write as a megabyte of text, so they are counted before. Of a text that is not JSON, the count is
 * at least that of the values that a parser makes before it notices.
 */
export function shapeRefusal(text: string, maxValues: number): CatracaError | undefined {
  let depth = 0
  let values = 1
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === QUOTE) i = endOfString(text, i)
    else if (code === COMMA) values++
    else if (code === OPENING[0] || code === OPENING[1]) {
      values++
      if (++depth > MAX_DEPTH) return invalid('body', `must not be nested deeper than ${MAX_DEPTH} levels`)
    } else if (code === CLOSING[0] || code === CLOSING[1]) depth--
    if (values > maxValues) return tooMany(maxValues)
  }
  return undefined
}

const tooMany = (maxValues: number) =>
  new CatracaError('PAYLOAD_TOO_LARGE', `the body has more than ${maxValues} values (server.bodyLimitValues)`)
