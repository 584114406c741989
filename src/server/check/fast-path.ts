import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Tracing } from '../../app/tracing.js'
import { isPromise } from '../../core/maybe-promise.js'
import type { CheckAnswer } from '../../guards/allowlist/types.js'
import type { ServerContext } from '../http/context.js'
import { isServerFault } from '../http/problem.js'
import { answerJson } from './answer.js'
import { CheckRequest } from './check-request.js'
import { parsePlainCheck } from './query.js'
import { answerHeaders, failureReply } from './reply.js'

type Handler = (request: IncomingMessage, response: ServerResponse) => void

/**
 * Answers plain checks before the framework sees them, because its lifecycle costs more than the check
 * (`docs/adr` has the figures). Only what is certain is answered here; everything else, refusals included, goes
 * through the route of the same name, so that there is one behaviour. What comes this way shares its connection
 * with other requests, or was not in one piece: the others are answered by `raw-connection.ts`.
 */
export function withFastChecks(context: ServerContext, next: Handler): Handler {
  const { allowlists, tracing } = context.catraca
  return (request, response) => {
    const check = request.method === 'GET' && !context.stopping ? parsePlainCheck(request.url!) : undefined
    if (
      check === undefined ||
      isUnusual(request, tracing) ||
      context.gate.refusal(request, 'check') !== undefined
    ) {
      next(request, response)
      return
    }
    const checkRequest = new CheckRequest(context, request.headers['x-request-id'], check.customerId)
    const answer = (answer: CheckAnswer) => {
      sendAnswer(response, checkRequest.requestId, answerJson(answer))
      checkRequest.end(200, context.gate.principal(request), { answer })
    }
    const fail = (error: unknown) => {
      const reply = failureReply(error, checkRequest.requestId)
      // Mistakes of the caller's are told by the framework, which may find more of them.
      if (!isServerFault(reply.status)) return next(request, response)
      response.writeHead(reply.status, reply.headers)
      response.end(reply.body)
      checkRequest.end(reply.status, context.gate.principal(request), { error })
    }
    try {
      const answered = allowlists.checkNow(check.customerId, check.allowlists)
      checkRequest.asked()
      if (isPromise(answered)) answered.then(answer, fail)
      else answer(answered)
    } catch (error) {
      fail(error)
    }
  }
}

/** Without a host, with a body or an expectation, or part of a trace: the hooks of the framework know what to do. */
function isUnusual({ headers }: IncomingMessage, { spans }: Tracing): boolean {
  return (
    headers.host === undefined ||
    headers['content-length'] !== undefined ||
    headers['transfer-encoding'] !== undefined ||
    headers.expect !== undefined ||
    (spans !== undefined && headers.traceparent !== undefined)
  )
}

function sendAnswer(response: ServerResponse, requestId: string, json: string): void {
  response.writeHead(200, answerHeaders(requestId, json))
  // In this order head and body leave in one write; `end(json)` would send an empty piece after them.
  response.write(json, 'latin1')
  process.nextTick(endResponse, response)
}

function endResponse(response: ServerResponse): void {
  response.end()
}
