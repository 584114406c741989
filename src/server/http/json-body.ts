import type { IncomingMessage } from 'node:http'
import type { FastifyContentTypeParser } from 'fastify'
import { CatracaError, invalid } from '../../core/errors.js'
import type { App, ServerContext } from './context.js'
import { shapeRefusal } from './json-shape.js'

/** JSON bodies, without the keys that change what an object is. No body at all is no mistake of the parser's. */
export function jsonParser(app: App, { bodies, settings }: ServerContext): FastifyContentTypeParser {
  const parse = app.getDefaultJsonParser('error', 'error')
  return (request, raw, done) => {
    const { 'content-encoding': encoding = 'identity' } = request.headers
    if (encoding.toLowerCase() !== 'identity') {
      done(new CatracaError('UNSUPPORTED_MEDIA_TYPE', 'a JSON body must come without content encoding'))
      return
    }
    const judge = (text: string) => {
      if (text.length === 0) return done(null, undefined)
      const refusal = shapeRefusal(text, settings.bodyLimitValues)
      if (refusal !== undefined) return done(refusal)
      parse(request, text, (error, body) => {
        const hostile = error === null && MAY_HOLD_CONSTRUCTOR.test(text) && holdsConstructor(body)
        if (error !== null || hostile) done(invalid('body', BODY_RULE))
        else done(null, body)
      })
    }
    bodies.read(raw as IncomingMessage, request.routeOptions.bodyLimit).then(judge, done)
  }
}

const BODY_RULE = 'must be JSON without the keys __proto__ and constructor'
/** An escape may spell any key. */
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
