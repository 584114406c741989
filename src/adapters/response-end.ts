import type { ServerResponse } from 'node:http'
import type { AtEnd } from './gate.js'

interface Answer {
  status: number
  headers: Record<string, string | string[]>
  body: string | Buffer
}

/** Sends an answer in place of the handler. Where another has begun to answer, nothing true can be said any more. */
export function sendAnswer(response: ServerResponse, { status, headers, body }: Answer): void {
  if (response.headersSent) {
    cutOff(response)
    return
  }
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  response.statusCode = status
  response.end(body)
}

/** An answer that has ended stays: it is of a time limit of the service, for example. */
export function cutOff(response: ServerResponse): void {
  if (!response.writableEnded) response.destroy()
}

/** Both events: a response whose client disconnected is closed and never finished. */
export function tellEnd(response: ServerResponse, atEnd: AtEnd | undefined): void {
  if (atEnd === undefined) return
  if (response.destroyed) {
    atEnd(undefined)
    return
  }
  response.once('finish', () => atEnd(response.statusCode))
  response.once('close', () => atEnd(undefined))
}
