import { STATUS_CODES } from 'node:http'
import { EVERY_ANSWER } from '../http/every-answer.js'
import { renderProblem } from '../http/problem.js'
import { httpDate } from './http-date.js'

type Fields = Readonly<Record<string, string>>

/** As Fastify writes it. */
const JSON_TYPE = 'application/json; charset=utf-8'
const ALWAYS = textOf(EVERY_ANSWER)

function textOf(fields: Fields): string {
  let text = ''
  for (const name in fields) text += `${name}: ${fields[name]}\r\n`
  return text
}

export interface DirectReply {
  status: number
  /** Headers beside those of every answer, in their order. */
  fields: Fields
  body: string | undefined
}

/** An answer with JSON, or without a body. */
export function jsonReply(status: number, fields: Fields, body: string | undefined): DirectReply {
  if (body === undefined || 'content-type' in fields) return { status, fields, body }
  return { status, fields: { ...fields, 'content-type': JSON_TYPE }, body }
}

/** The answer to a call that failed. `given`: the headers that its handler had set before. */
export function failureReply(error: unknown, requestId: string, given: Fields): DirectReply {
  const { status, headers, body } = renderProblem(error, requestId)
  // Every answer has it.
  const { 'cache-control': _, ...fields } = headers
  return { status, fields: { ...given, ...fields }, body }
}

/** The text of an answer, as Node would send it. `keepAlive`: the headers of a connection that stays open. */
export function replyText({ status, fields, body }: DirectReply, requestId: string, keepAlive: string) {
  const isAscii = body === undefined || body.length === Buffer.byteLength(body)
  const length = body === undefined ? '' : `content-length: ${Buffer.byteLength(body)}\r\n`
  const text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'unknown'}\r\nx-request-id: ${requestId}\r\n${ALWAYS}${textOf(fields)}${length}Date: ${httpDate()}\r\n${fields.connection === undefined ? keepAlive : '\r\n'}${body ?? ''}`
  return { text, encoding: isAscii ? ('latin1' as const) : ('utf8' as const) }
}
