import { type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { CatracaError } from '../../core/errors.js'
import { Pipelines } from './pipelines.js'
import { PROBLEM_TYPE, type RenderedProblem, toProblem } from './problem.js'
import { newRequestId } from './request-id.js'

interface ParserError {
  code?: string
}

const REFUSED = Symbol('refused')
type RefusedSocket = Socket & { [REFUSED]?: true }

/**
 * Responds to input that is not valid HTTP or exceeds a limit, after the responses to earlier requests. The
 * connection is read no further and closes after this response.
 */
export function answerClientError({ code }: ParserError, socket: RefusedSocket): void {
  if (code === 'ECONNRESET' || socket.destroyed || socket[REFUSED]) return
  // Data after the last request, whose response closes the connection.
  if (code === 'HPE_CLOSED_CONNECTION') return
  socket[REFUSED] = true
  socket.pause()
  const unfinished = Pipelines.unfinished(socket)
  if (unfinished === undefined) {
    Pipelines.whenAnswered(socket, () => answerByHand(code, socket))
    return
  }
  const { request, response } = unfinished
  // Node forgets a request with its answer: without this, whoever reads the body would wait for its end for ever.
  socket.once('close', () => request.destroy())
  if (response.headersSent) endBehind(response, socket)
  else answerWith(response, code)
}

/** The request has its response already, but it waits for the responses before it. */
function endBehind(response: ServerResponse, socket: Socket): void {
  if (response.socket !== null || response.writableFinished) socket.destroySoon()
  else response.once('socket', () => process.nextTick(() => socket.destroySoon()))
}

/** The body is at fault: the request exists, so its own response is used. */
function answerWith(response: ServerResponse, code: string | undefined): void {
  const { status, headers, body } = reply(code)
  response.writeHead(status, headers)
  response.end(body)
}

/** No request was parsed, so Node has no response object. */
function answerByHand(code: string | undefined, socket: Socket): void {
  const { status, headers, body } = reply(code)
  const head = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`]
  for (const [name, value] of Object.entries(headers)) head.push(`${name}: ${value}`)
  if (socket.writable) socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
  socket.destroySoon()
}

function reply(code: string | undefined): RenderedProblem {
  const status = code === 'HPE_HEADER_OVERFLOW' ? 431 : code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400
  const detail =
    status === 431
      ? 'the headers are too large'
      : status === 408
        ? 'the request took too long to arrive'
        : 'the request is not valid HTTP'
  const requestId = newRequestId()
  const body = JSON.stringify(toProblem(new CatracaError('INVALID_INPUT', detail), requestId, status))
  const headers = {
    'content-type': PROBLEM_TYPE,
    'content-length': String(Buffer.byteLength(body)),
    'x-request-id': requestId,
    connection: 'close',
  }
  return { status, headers, body }
}
