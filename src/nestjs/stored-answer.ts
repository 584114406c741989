import type { ServerResponse } from 'node:http'
import { bodyOf, type HttpAnswer, replayHeaders } from '../adapters/http-answer.js'
import { soon } from '../core/timers.js'

/** Describe the body that is not sent. */
const OF_THE_BODY = ['content-length', 'content-type', 'content-encoding', 'etag', 'transfer-encoding']

/**
 * Sends a stored answer in place of what Nest sends for the route. The answer has passed the interceptors of the
 * application when it was stored, so it must not pass them again: their response is dropped.
 */
export function sendStored(raw: ServerResponse, answer: HttpAnswer, present: Record<string, unknown>): void {
  const { end, writeHead } = raw
  const { setHeader, removeHeader } = raw
  for (const [name, value] of Object.entries(present)) setHeader.call(raw, name, value as string)
  for (const name of OF_THE_BODY) removeHeader.call(raw, name)
  for (const [name, value] of Object.entries(replayHeaders(answer))) setHeader.call(raw, name, value)
  let isSent = false
  const send = (): ServerResponse => {
    if (isSent) return raw
    isSent = true
    raw.statusCode = answer.status
    // Node ends a response by the method of its own.
    Object.assign(raw, { writeHead })
    end.call(raw, bodyOf(answer), 'utf8')
    Object.assign(raw, { writeHead: () => raw })
    return raw
  }
  const ignored = () => raw
  Object.assign(raw, {
    ...{ setHeader: ignored, appendHeader: ignored, removeHeader: ignored, setHeaders: ignored },
    ...{ writeHead: ignored, flushHeaders: ignored, write: () => true, end: send },
  })
  // Nest sends nothing for a handler that has taken the response.
  soon(send)
}
