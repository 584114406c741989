import { invalid } from '../../../core/errors.js'
import { rateLimitHeaders } from '../../../guards/rate-limit/headers.js'
import { quotaExceeded } from '../../../guards/rate-limit/quota-exceeded.js'
import type { Limits } from '../../../guards/rate-limit/types.js'
import type { App, ServerContext } from '../../http/context.js'
import { answers204 } from '../allowlist/lists.js'
import { answers } from '../responses.js'
import * as schemas from './schemas.js'

function jsonOf<T>(path: string, text: string): T {
  try {
    return JSON.parse(text) as T
  } catch {
    throw invalid(path, 'must be JSON')
  }
}

const tags = ['limits']
const config = { scope: 'limits' } as const

export function limitRoutes(app: App, context: ServerContext): void {
  addAcquire(app, context)
  addLeases(app, context)
  addDenied(app, context)
  addResourceUsage(app, context)
  addStatus(app, context)
}

function addDenied(app: App, { catraca: { limits } }: ServerContext): void {
  app.get(
    '/limits/denied',
    {
      config: { scope: 'read' },
      schema: {
        tags,
        operationId: 'listDenied',
        summary: 'List the entities that this process denied most often in the last hour',
        querystring: schemas.deniedQuery,
        response: answers({ 200: { description: 'Most denied first', schema: schemas.topDenied } }),
      },
    },
    async (request) => limits.topDenied(request.query),
  )
}

function addResourceUsage(app: App, { catraca: { limits } }: ServerContext): void {
  app.get(
    '/limits/usage',
    {
      config: { scope: 'read' },
      schema: {
        tags,
        operationId: 'getResourceUsage',
        summary: 'Read the usage of a resource by hour or day, and of its heaviest entities',
        querystring: schemas.resourceUsageQuery,
        response: answers({ 200: { description: 'Oldest first', schema: schemas.resourceUsage } }),
      },
    },
    ({ query: { resource, ...query } }) => limits.resourceUsage(resource, query),
  )
}

function addAcquire(app: App, { catraca: { limits }, settings: { inlineLimits } }: ServerContext): void {
  app.post(
    '/limits/acquire',
    {
      config,
      schema: {
        tags,
        operationId: 'acquire',
        summary: 'Acquire: consume from all limits of a resource, or from none',
        body: schemas.acquireRequest,
        response: answers({ 200: { description: 'Allowed', schema: schemas.acquired } }),
      },
    },
    async (request, reply) => {
      const answer = await limits.acquire(request.body, inlineLimits)
      reply.headers(rateLimitHeaders(answer))
      if (!answer.allowed) throw quotaExceeded(answer)
      return answer
    },
  )
}

function addLeases(app: App, { catraca: { limits } }: ServerContext): void {
  app.post(
    '/leases/:leaseId/adjust',
    {
      config,
      schema: {
        tags,
        operationId: 'adjustLease',
        summary: 'Adjust the cost of a lease; a bucket may go below zero',
        params: schemas.leaseParams,
        body: schemas.leaseDelta,
        response: answers({ 200: { description: 'Corrected', schema: schemas.leaseChange } }),
      },
    },
    ({ params, body: { delta, ...options } }) => limits.adjust(params.leaseId, delta, options),
  )

  app.delete(
    '/leases/:leaseId',
    {
      config,
      schema: {
        tags,
        operationId: 'releaseLease',
        summary: 'Give back all that a lease consumed; a second call changes nothing',
        params: schemas.leaseParams,
        response: answers204('Given back'),
      },
    },
    async (request, reply) => {
      await limits.giveBack(request.params.leaseId)
      return reply.code(204).send()
    },
  )
}

function addStatus(app: App, { catraca: { limits }, settings: { inlineLimits } }: ServerContext): void {
  app.get(
    '/limits/:entity/:resource',
    {
      config,
      schema: {
        tags,
        operationId: 'getLimits',
        summary: 'Read what is left of the limits, without consuming',
        params: schemas.subjectParams,
        querystring: schemas.statusQuery,
        response: answers({ 200: { description: 'By limit', schema: schemas.limitsStatus } }),
      },
    },
    async ({ params: { entity, resource }, query }) => {
      const given = query.limits === undefined ? {} : { limits: jsonOf<Limits>('limits', query.limits) }
      return limits.status(entity, resource, given, inlineLimits)
    },
  )

  app.delete(
    '/limits/:entity/:resource',
    {
      config: { ...config, audited: true },
      schema: {
        tags,
        operationId: 'resetLimits',
        summary: 'Reset the limits of an entity',
        params: schemas.subjectParams,
        response: answers204('The limits are full again'),
      },
    },
    async (request, reply) => {
      await limits.reset(request.params.entity, request.params.resource)
      return reply.code(204).send()
    },
  )

  app.get(
    '/limits/:entity/:resource/usage',
    {
      config,
      schema: {
        tags,
        operationId: 'getUsage',
        summary: 'Read the usage of an entity by hour or day, for hours in which it was among the heaviest',
        params: schemas.subjectParams,
        querystring: schemas.usageQuery,
        response: answers({ 200: { description: 'Oldest first', schema: schemas.usage } }),
      },
    },
    (request) => limits.usage(request.params.entity, request.params.resource, request.query),
  )
}
