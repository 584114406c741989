import { CatracaError } from '../../../core/errors.js'
import type { CacheAnswer } from '../../../guards/cache/types.js'
import { CACHE } from '../../../wire/cache.js'
import type { ServerContext } from '../../http/context.js'
import type { App } from '../../http/instance.js'
import { addRoutes } from '../add-routes.js'

/**
 * Leases are for callers that load missing values themselves: one caller gets the lease, the others wait or get the
 * stale value.
 */
export function cacheRoutes(app: App, context: ServerContext): void {
  const { cache } = context.catraca
  const waiting = new Set<AbortController>()
  app.addHook('preClose', async () => {
    for (const stop of waiting) stop.abort()
  })
  addRoutes(app, context, CACHE, {
    getCached: async ({ params: { space, key } }) => {
      const answer = await cache.get(space, key)
      if (answer?.value === undefined) {
        throw new CatracaError('CACHE_KEY_NOT_FOUND', `nothing is cached under ${key} in ${space}`)
      }
      return shown(answer)
    },
    cacheStats: async () => ({ spaces: await cache.stats() }),
    listCached: ({ params, query }) => cache.list(params.space, query),
    setCached: ({ params: { space, key }, body: { value, ttlMs, lease } }) => {
      const options = ttlMs === undefined ? {} : { ttlMs }
      if (lease === undefined) return cache.set(space, key, value, options)
      return cache.fill(space, key, value, { ...options, lease })
    },
    expireCached: ({ params }) => cache.expire(params.space, params.key),
    deleteCached: async ({ params }) => {
      await cache.delete(params.space, params.key)
    },
    leaseCached: async (request, reply) => {
      const { space, key } = request.params
      const stop = new AbortController()
      waiting.add(stop)
      reply.raw.once('close', () => stop.abort())
      const answer = await cache
        .lease(space, key, { ...request.body, signal: stop.signal })
        .catch((error: unknown) => {
          throw stop.signal.aborted ? new CatracaError('SHUTTING_DOWN', 'the client disconnected') : error
        })
        .finally(() => waiting.delete(stop))
      if (answer.state === 'busy') {
        const retryAfterMs = Math.ceil(answer.retryAfterMs)
        reply.code(202).header('retry-after', String(Math.max(1, Math.ceil(retryAfterMs / 1000))))
        return { retryAfterMs }
      }
      if (answer.state === 'cached') return shown(answer)
      const { lease, stale } = answer
      // The client disconnected, so it will not load.
      if (reply.raw.destroyed) await cache.release(space, key, lease)
      const expiresAt = answer.expiresAt.toISOString()
      if (stale !== undefined) return { ...shown(stale), lease, expiresAt }
      reply.code(201)
      return { lease, expiresAt }
    },
    releaseCached: ({ params }) => cache.release(params.space, params.key, params.lease),
  })
}

const shown = ({ value, ageMs, stale, degraded }: CacheAnswer<unknown>) => ({
  ...{ value: value ?? null, ageMs: Math.round(ageMs) },
  ...(stale && { stale: true as const }),
  ...(degraded && { degraded: true as const }),
})
