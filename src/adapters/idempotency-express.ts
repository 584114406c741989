import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Request as ExpressRequest } from 'express'
import { HeldBackAnswer } from './held-back.js'
import { bodyOf, DEGRADED_HEADER, replayHeaders } from './http-answer.js'
import {
  checkIdempotencyOptions,
  endRequest,
  type IdempotencyOptions,
  maxBodyBytes,
  startRequest,
} from './idempotency.js'
import { about, type ParsedRequest } from './parsed-request.js'
import { wasRefused } from './refused.js'
import { cutOff, sendAnswer } from './response-end.js'

/**
 * Middleware for Express and other frameworks on `node:http`. Register it after the body parser, because
 * `request.body` identifies the request.
 */
export function idempotency<Request extends IncomingMessage & ParsedRequest = ExpressRequest>(
  options: IdempotencyOptions<Request>,
): (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void) => void {
  checkIdempotencyOptions(options)
  return (given, response, next) => {
    const request = given as Request
    const asked = about(request)
    startRequest(options, request, asked).then((start) => {
      if (start.go === 'refuse') return sendAnswer(response, start.problem)
      if (start.go === 'replay') {
        const { answer: kept } = start
        return sendAnswer(response, { status: kept.status, headers: replayHeaders(kept), body: bodyOf(kept) })
      }
      if (start.go === 'guarded') {
        if (response.headersSent) {
          // Nothing was executed. A later request must execute, and not wait for this one.
          start.claim.release().catch(() => {})
          return cutOff(response)
        }
        if (start.claim.context.degraded) response.setHeader(DEGRADED_HEADER, 'true')
        const header = (name: string) => response.getHeader(name)
        const record = (body: Buffer | undefined) => {
          const facts = { status: response.statusCode, header, body, isRefusal: wasRefused(request) }
          return endRequest(options, start.claim, facts, asked)
        }
        const giveUp = (error: unknown) => void start.claim.fail(error).catch(() => {})
        new HeldBackAnswer(response, maxBodyBytes(options), { record, giveUp })
      }
      next()
    }, next)
  }
}
