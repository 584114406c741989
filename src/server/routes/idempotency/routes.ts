import { CatracaError, invalid } from '../../../core/errors.js'
import { refusalError } from '../../../guards/idempotency/refusals.js'
import type { RecordKey } from '../../../guards/idempotency/types.js'
import type { App, ServerContext } from '../../http/context.js'
import { answers204 } from '../allowlist/lists.js'
import { answers } from '../responses.js'
import * as schemas from './schemas.js'

const tags = ['idempotency']
const config = { scope: 'idempotency' } as const
const PATH = '/idempotency/:operation/:key'

export function idempotencyRoutes(app: App, context: ServerContext): void {
  addClaim(app, context)
  addEndings(app, context)
  addExtend(app, context)
  addRecord(app, context)
}

function addClaim(app: App, { catraca: { idempotency }, settings }: ServerContext): void {
  app.post(
    PATH,
    {
      config,
      bodyLimit: settings.bodyLimitBytes,
      schema: {
        tags,
        operationId: 'claimRequest',
        summary: 'Claim a request, or get the recorded response',
        params: schemas.recordParams,
        headers: schemas.claimHeaders,
        body: schemas.claimRequest,
        response: answers({
          200: { description: 'Executed before: the recorded response', schema: schemas.replayed },
          201: {
            description: 'Claimed: execute the request, then record the result',
            schema: schemas.claimed,
          },
        }),
      },
      // A request that is identified by its key alone needs no body.
      preValidation: (request, _reply, done) => {
        if (request.body === undefined) request.body = {}
        done()
      },
    },
    async (request, reply) => {
      const { leaseSeconds, ...claim } = request.body
      const begun = await idempotency.begin({
        ...request.params,
        ...claim,
        ...(leaseSeconds !== undefined && { leaseMs: inMs(leaseSeconds) }),
        ...expiry(request.headers['idempotency-expiry-seconds']),
      })
      if (begun.outcome === 'refused') throw refusalError(begun)
      if (begun.outcome === 'claimed') {
        const { outcome: _, ...claimed } = begun
        return reply.code(201).send({ status: 'IN_PROGRESS', ...claimed })
      }
      reply.header('idempotency-replayed', 'true')
      if (begun.outcome === 'omitted') return { status: 'COMPLETED', omittedBytes: begun.sizeBytes } as const
      return { status: 'COMPLETED', response: begun.value } as const
    },
  )
}

function addEndings(app: App, { catraca: { idempotency }, settings }: ServerContext): void {
  app.post(
    `${PATH}/complete`,
    {
      config,
      bodyLimit: settings.bodyLimitBytes,
      schema: {
        tags,
        operationId: 'completeRequest',
        summary: 'Complete a claim: record the response, once',
        params: schemas.recordParams,
        body: schemas.completeRequest,
        response: answers({ 200: { description: 'Recorded', schema: schemas.completed } }),
      },
    },
    async ({ params, body: { token, response } }) => {
      const { omitted } = await idempotency.complete(params, token, response)
      return { status: 'COMPLETED', ...(omitted && { omitted }) } as const
    },
  )

  app.post(
    `${PATH}/fail`,
    {
      config,
      schema: {
        tags,
        operationId: 'failRequest',
        summary: 'Record that the request failed: it can be claimed again',
        params: schemas.recordParams,
        body: schemas.failRequest,
        response: answers({ 200: { description: 'Recorded', schema: schemas.failed } }),
      },
    },
    async ({ params, body: { token, error } }) => {
      await idempotency.fail(params, token, error)
      return { status: 'FAILED' } as const
    },
  )

  app.post(
    `${PATH}/release`,
    {
      config,
      schema: {
        tags,
        operationId: 'releaseRequest',
        summary: 'Release a claim: nothing was executed, and nothing is recorded',
        params: schemas.recordParams,
        body: schemas.releaseRequest,
        response: answers204('Given back'),
      },
    },
    async ({ params, body }, reply) => {
      await idempotency.release(params, body.token)
      return reply.code(204).send()
    },
  )
}

function addExtend(app: App, { catraca: { idempotency } }: ServerContext): void {
  app.post(
    `${PATH}/extend`,
    {
      config,
      schema: {
        tags,
        operationId: 'extendRequest',
        summary: 'Extend a claim',
        params: schemas.recordParams,
        body: schemas.extendRequest,
        response: answers({ 200: { description: 'Extended', schema: schemas.extended } }),
      },
    },
    async ({ params, body: { token, leaseSeconds } }) => {
      await idempotency.extend(params, token, inMs(leaseSeconds))
      return { status: 'IN_PROGRESS' } as const
    },
  )
}

function addRecord(app: App, { catraca: { idempotency } }: ServerContext): void {
  app.get(
    PATH,
    {
      config: { ...config, orAdmin: true },
      schema: {
        tags,
        operationId: 'getIdempotencyRecord',
        summary: 'Read a record, without the token of its owner',
        params: schemas.recordParams,
        response: answers({ 200: { description: 'The record', schema: schemas.record } }),
      },
    },
    async ({ params }) => (await idempotency.get(params)) ?? notFound(params),
  )

  app.delete(
    PATH,
    {
      config: { ...config, orAdmin: true, audited: true },
      schema: {
        tags,
        operationId: 'deleteIdempotencyRecord',
        summary: 'Delete a record: the request can be executed again',
        params: schemas.recordParams,
        response: answers204('Gone'),
      },
    },
    async ({ params }, reply) => {
      if (!(await idempotency.delete(params))) notFound(params)
      return reply.code(204).send()
    },
  )
}

/** The API uses seconds; the library uses milliseconds. */
function inMs(leaseSeconds: number): number {
  if (leaseSeconds >= 1 && leaseSeconds <= 86_400) return Math.round(leaseSeconds * 1000)
  throw invalid('leaseSeconds', 'must be from 1 to 86400')
}

function expiry(header: unknown): { expirySeconds?: number } {
  if (header === undefined) return {}
  if (typeof header !== 'string' || !/^\d{1,12}$/.test(header.trim()))
    throw invalid('Idempotency-Expiry-Seconds', 'must be a whole number of seconds')
  return { expirySeconds: Number(header) }
}

function notFound({ operation, key }: RecordKey): never {
  throw new CatracaError('IDEMPOTENCY_RECORD_NOT_FOUND', `there is no record of ${operation} ${key}`)
}
