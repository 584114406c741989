import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { Held } from '../guards/idempotency/held-claim.js'
import { type Captured, capture, discard, resume } from './capture.js'
import { bodyOf, DEGRADED_HEADER, KEPT_HEADERS, replayHeaders } from './http-answer.js'
import {
  checkIdempotencyOptions,
  endRequest,
  type FrameworkRequest,
  type IdempotencyOptions,
  maxBodyBytes,
  startRequest,
} from './idempotency.js'
import { wasRefused } from './refused.js'

/** A plugin that executes each request of its scope once. Register it after hooks that may refuse a request. */
export function idempotency<Request extends FastifyRequest = FastifyRequest>(
  options: IdempotencyOptions<Request>,
): FastifyPluginAsync {
  checkIdempotencyOptions(options)
  const claims = new WeakMap<object, Held>()
  /** Takes the claim of a request, so that it is ended only once. */
  const claimOf = (request: FastifyRequest): Held | undefined => {
    const claim = claims.get(request)
    claims.delete(request)
    return claim
  }
  const endPastFastify = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const claim = claimOf(request)
    if (claim !== undefined)
      await endRequest(options, claim, given(request, reply, undefined), about(request))
  }
  const plugin: FastifyPluginAsync = async (app) => {
    app.addHook('preHandler', async (request, reply) => {
      const start = await startRequest(options, request as Request, about(request))
      if (start.go === 'guarded') {
        claims.set(request, start.claim)
        watchHijacked(reply.raw, {
          ended: () => endPastFastify(request, reply),
          destroyed: () => claimOf(request)?.fail(new Error('the response was destroyed before its end')),
        })
        if (start.claim.context.degraded) reply.header(DEGRADED_HEADER, 'true')
      }
      if (start.go === 'refuse') {
        const { status, headers, body } = start.problem
        return reply.code(status).headers(headers).send(body)
      }
      if (start.go === 'replay') {
        const { answer } = start
        // Fastify sets a content type for bytes, even for none, unless one is set.
        const body = answer.body === undefined ? undefined : bodyOf(answer)
        return reply.code(answer.status).headers(replayHeaders(answer)).send(body)
      }
      return undefined
    })
    app.addHook('onSend', async (request, reply, payload) => {
      const claim = claimOf(request)
      if (claim === undefined) return payload
      return record(options, claim, request, reply, payload)
    })
    // Responses that were sent without Fastify did not pass `onSend`.
    app.addHook('onResponse', endPastFastify)
  }
  // Without this, Fastify would apply the hooks only inside the plugin.
  return Object.assign(plugin, { [Symbol.for('skip-override')]: true })
}

/** When the client disconnects, Fastify does not report the end of a hijacked reply. */
function watchHijacked(
  raw: ServerResponse,
  told: { ended: () => Promise<void>; destroyed: () => Promise<void> | undefined },
): void {
  const { destroy, end } = raw
  raw.destroy = (error) => {
    told.destroyed()?.catch(() => {})
    return destroy.call(raw, error)
  }
  raw.once('close', () => {
    if (raw.writableEnded) return
    raw.end = ((...args: Parameters<typeof end>) => {
      void told.ended()
      return end.apply(raw, args)
    }) as typeof end
  })
}

async function record<Request extends FastifyRequest>(
  options: IdempotencyOptions<Request>,
  claim: Held,
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
): Promise<unknown> {
  let captured: Captured
  try {
    captured = await capture(chunksOf(payload, reply), maxBodyBytes(options))
  } catch (error) {
    await claim.fail(error).catch(() => {})
    throw error
  }
  const body = 'whole' in captured ? captured.whole : undefined
  const problem = await endRequest(options, claim, given(request, reply, body), about(request))
  if (problem !== undefined) {
    await discard(captured)
    const ofAnswer = [...KEPT_HEADERS, ...(options.keptHeaders ?? []), 'content-length', 'set-cookie']
    for (const name of ofAnswer) reply.removeHeader(name)
    reply.code(problem.status).headers(problem.headers)
    return problem.body
  }
  if (typeof payload === 'string' || payload === undefined || payload === null) return payload
  return body ?? Readable.from(resume(captured), { objectMode: false })
}

/**
 * Chunks of any payload that Fastify can send. A `Response` has its own status and headers, which Fastify would set
 * later.
 */
async function* chunksOf(payload: unknown, reply: FastifyReply): AsyncGenerator<Uint8Array | string> {
  if (payload === undefined || payload === null) return
  if (typeof payload === 'string' || payload instanceof Uint8Array) {
    yield payload
  } else if (Object.prototype.toString.call(payload) === '[object Response]') {
    const { status, headers, body } = payload as Response
    reply.code(status)
    for (const [name, value] of headers) reply.header(name, value)
    if (body !== null) yield* body
  } else {
    yield* payload as AsyncIterable<Uint8Array | string>
  }
}

function given(request: FastifyRequest, reply: FastifyReply, body: Buffer | undefined) {
  const header = (name: string) => reply.getHeader(name)
  return { status: reply.statusCode, header, body, isRefusal: wasRefused(request) }
}

function about({ method, url, headers, body }: FastifyRequest): FrameworkRequest {
  return { method, path: url, header: (name) => headers[name], body: () => body }
}
