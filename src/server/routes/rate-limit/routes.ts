import { invalid } from '../../../core/errors.js'
import { MAX_DENIED_ITEMS } from '../../../guards/rate-limit/denied-top.js'
import { rateLimitHeaders } from '../../../guards/rate-limit/headers.js'
import { quotaExceeded } from '../../../guards/rate-limit/quota-exceeded.js'
import type { AcquireRequest, Limits } from '../../../guards/rate-limit/types.js'
import { LIMITS } from '../../../wire/rate-limit/limits.js'
import type { ServerContext } from '../../http/context.js'
import type { App } from '../../http/instance.js'
import { addRoutes } from '../add-routes.js'

function jsonOf<T>(path: string, text: string): T {
  try {
    return JSON.parse(text) as T
  } catch {
    throw invalid(path, 'must be JSON')
  }
}

export function limitRoutes(app: App, context: ServerContext): void {
  const { limits } = context.catraca
  const { inlineLimits } = context.settings
  addRoutes(app, context, LIMITS, {
    acquire: async ({ body }, reply) => {
      const answer = await limits.acquire(body as AcquireRequest, inlineLimits)
      reply.headers(rateLimitHeaders(answer))
      if (!answer.allowed) throw quotaExceeded(answer)
      return answer
    },
    adjustLease: ({ params, body: { delta, ...options } }) => limits.adjust(params.leaseId, delta, options),
    releaseLease: async ({ params }) => {
      await limits.giveBack(params.leaseId)
    },
    listSubjects: ({ query }) => limits.subjects(query),
    listDenied: ({ query, raw }) => {
      const reach = context.gate.reach(raw, 'read')
      if (reach === undefined) return limits.topDenied(query)
      const wanted = limits.topDenied(query).items.length
      const all = limits.topDenied({ ...query, limit: MAX_DENIED_ITEMS })
      const visible = all.items.filter(({ resource }) => reach.covers('resources', resource))
      return { ...all, items: visible.slice(0, wanted) }
    },
    getResourceUsage: ({ query: { resource, ...query } }) => limits.resourceUsage(resource, query),
    getLimits: async ({ params: { entity, resource }, query }) => {
      const given = query.limits === undefined ? {} : { limits: jsonOf<Limits>('limits', query.limits) }
      return limits.status(entity, resource, given, inlineLimits)
    },
    resetLimits: ({ params }) => limits.reset(params.entity, params.resource),
    getUsage: ({ params, query }) => limits.usage(params.entity, params.resource, query),
  })
}
