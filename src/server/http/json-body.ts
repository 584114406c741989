import type { IncomingMessage } from 'node:http'
import type { FastifyContentTypeParser } from 'fastify'
import { CatracaError, invalid } from '../../core/errors.js'
import { INTEGER_RULE, largeInteger } from '../../core/large-integers.js'
import type { ServerContext } from './context.js'
import { shapeRefusal } from './json-shape.js'

/** Parses JSON bodies. An absent body is not a parser error. */
export function jsonParser({ bodies, settings }: ServerContext): FastifyContentTypeParser {
  return (request, raw, done) => {
    const { 'content-encoding': encoding = 'identity' } = request.headers
    if (encoding.toLowerCase() !== 'identity') {
      done(new CatracaError('UNSUPPORTED_MEDIA_TYPE', 'a JSON body must not have a content encoding'))
      return
    }
    const judge = (text: string) => {
      const read = readJson(text, settings.bodyLimitValues, request.route!.config.isLiberal)
      done(read instanceof CatracaError ? read : null, read)
    }
    bodies.read(raw as IncomingMessage, request.route!.bodyLimit).then(judge, done)
  }
}

const BODY_RULE = 'must be JSON without the keys __proto__ and constructor'
/** A `\u` escape may spell any key. */
const MAY_HOLD_HOSTILE_KEY = /__proto__|constructor|\\u/
const BYTE_ORDER_MARK = '\uFEFF'

/** The value of a JSON text, or why it is refused; undefined without a text. `isLiberal`: rounded integers may pass. */
export function readJson(text: string, maxValues: number, isLiberal = false): unknown {
  if (text.length === 0) return undefined
  const refusal = shapeRefusal(text, maxValues)
  if (refusal !== undefined) return refusal
  let body: unknown
  try {
    body = JSON.parse(text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text)
  } catch {
    return invalid('body', BODY_RULE)
  }
  if (MAY_HOLD_HOSTILE_KEY.test(text) && holdsHostileKey(body)) return invalid('body', BODY_RULE)
  const large = isLiberal ? undefined : largeInteger(text, body)
  return large === undefined ? body : invalid(large || 'body', INTEGER_RULE)
}

function holdsHostileKey(root: unknown): boolean {
  const waiting = [root]
  while (waiting.length > 0) {
    const value = waiting.pop()
    if (typeof value !== 'object' || value === null) continue
    if (Object.hasOwn(value, '__proto__') || Object.hasOwn(value, 'constructor')) return true
    for (const child of Object.values(value)) waiting.push(child)
  }
  return false
}
