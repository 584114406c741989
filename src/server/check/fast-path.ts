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
 * Answers plain checks before the framework, because its request lifecycle costs more than the check (figures in
 * `docs/adr`). Everything that is not a plain check, and every mistake of the caller, goes to the route, so that there
 * is one behaviour. Requests come here when they share their connection with other requests or arrived in pieces;
 * `raw-connection.ts` answers the others.
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
      // The framework reports mistakes of the caller, because it may find several.
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

/** Requests without a host, with a body, or part of a trace are left to the hooks of the framework. */
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
  // This order sends head and body in one write; `end(json)` would add an empty chunk.
  response.write(json, 'latin1')
  process.nextTick(endResponse, response)
}

function endResponse(response: ServerResponse): void {
  response.end()
}
