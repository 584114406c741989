import type { IncomingMessage } from 'node:http'
import type { FastifyContentTypeParser } from 'fastify'
import { CatracaError, invalid } from '../../core/errors.js'
import { INTEGER_RULE, largeInteger } from '../../core/large-integers.js'
import type { ServerContext } from './context.js'
import type { App } from './instance.js'
import { shapeRefusal } from './json-shape.js'

/** Parses JSON bodies and refuses the keys `__proto__` and `constructor`. An absent body is not a parser error. */
export function jsonParser(app: App, { bodies, settings }: ServerContext): FastifyContentTypeParser {
  const parse = app.getDefaultJsonParser('error', 'error')
  return (request, raw, done) => {
    const { 'content-encoding': encoding = 'identity' } = request.headers
    if (encoding.toLowerCase() !== 'identity') {
      done(new CatracaError('UNSUPPORTED_MEDIA_TYPE', 'a JSON body must not have a content encoding'))
      return
    }
    const judge = (text: string) => {
      if (text.length === 0) return done(null, undefined)
      const refusal = shapeRefusal(text, settings.bodyLimitValues)
      if (refusal !== undefined) return done(refusal)
      parse(request, text, (error, body) => {
        const hostile = error === null && MAY_HOLD_CONSTRUCTOR.test(text) && holdsConstructor(body)
        if (error !== null || hostile) return done(invalid('body', BODY_RULE))
        const { isLiberal } = request.routeOptions.config
        const large = isLiberal ? undefined : largeInteger(text, body)
        if (large !== undefined) done(invalid(large || 'body', INTEGER_RULE))
        else done(null, body)
      })
    }
    bodies.read(raw as IncomingMessage, request.route!.bodyLimit).then(judge, done)
  }
}

const BODY_RULE = 'must be JSON without the keys __proto__ and constructor'
/** A `\u` escape may spell any key. */
const MAY_HOLD_CONSTRUCTOR = /constructor|\\u/

function holdsConstructor(root: unknown): boolean {
  const waiting = [root]
  while (waiting.length > 0) {
    const value = waiting.pop()
    if (typeof value !== 'object' || value === null) continue
    if (Object.hasOwn(value, 'constructor')) return true
    for (const child of Object.values(value)) waiting.push(child)
  }
  return false
}
