import type { Socket } from 'node:net'
import { CatracaError } from '../errors.js'
import { PROBLEM_TYPE, toProblem } from './problem.js'
import { newRequestId } from './request-id.js'

interface ParserError {
  code?: string
}

const REASONS: Record<number, string> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
}

/** Answers what is not HTTP, or too much of it: there is no request yet, so the answer is written by hand. */
export function answerClientError(error: ParserError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  if (socket.writable) socket.write(clientErrorResponse(error.code))
  socket.destroy()
}

function clientErrorResponse(code: string | undefined): string {
  const status = code === 'HPE_HEADER_OVERFLOW' ? 431 : code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400
  const detail =
    status === 431
      ? 'the headers are too large'
      : status === 408
        ? 'the request took too long to arrive'
        : 'the request is not valid HTTP'
  const requestId = newRequestId()
  const body = JSON.stringify(toProblem(new CatracaError('INVALID_INPUT', detail), requestId, status))
  return [
    `HTTP/1.1 ${status} ${REASONS[status]}`,
    `content-type: ${PROBLEM_TYPE}`,
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${requestId}`,
    'connection: close',
    '',
    body,
  ].join('\r\n')
}
