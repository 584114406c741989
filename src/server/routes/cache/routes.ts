import { CatracaError } from '../../../core/errors.js'
import type { CacheAnswer } from '../../../guards/cache/types.js'
import type { App, ServerContext } from '../../http/context.js'
import { answers204 } from '../allowlist/lists.js'
import { answers } from '../responses.js'
import * as schemas from './schemas.js'

const tags = ['cache']
const config = { scope: 'cache' } as const
const PATH = '/cache/:space/:key'

export function cacheRoutes(app: App, context: ServerContext): void {
  addReads(app, context)
  addWrites(app, context)
  addLeases(app, context)
}

function addReads(app: App, { catraca: { cache } }: ServerContext): void {
  app.get(
    PATH,
    {
      config,
      schema: {
        tags,
        operationId: 'getCached',
        summary: 'Read a cached value',
        params: schemas.entryParams,
        response: answers({ 200: { description: 'The value', schema: schemas.cached } }),
      },
    },
    async (request) => {
      const { space, key } = request.params
      const answer = await cache.get(space, key)
      if (answer?.value === undefined) {
        throw new CatracaError('CACHE_KEY_NOT_FOUND', `nothing is cached under ${key} in ${space}`)
      }
      return shown(answer)
    },
  )

  app.get(
    '/cache',
    {
      config,
      schema: {
        tags,
        operationId: 'cacheStats',
        summary: 'Hits, misses, loads and the state of both tiers',
        response: answers({ 200: { description: 'By space', schema: schemas.cacheStats } }),
      },
    },
    async () => ({ spaces: await cache.stats() }),
  )
}

function addWrites(app: App, { catraca: { cache }, settings }: ServerContext): void {
  app.put(
    PATH,
    {
      config,
      bodyLimit: settings.bodyLimitBytes,
      schema: {
        tags,
        operationId: 'setCached',
        summary: 'Cache a value; with a lease, only while the lease is valid',
        params: schemas.entryParams,
        body: schemas.newEntry,
        response: answers204('Cached'),
      },
    },
    async (request, reply) => {
      const { space, key } = request.params
      const { value, ttlMs, lease } = request.body
      const options = ttlMs === undefined ? {} : { ttlMs }
      if (lease === undefined) await cache.set(space, key, value, options)
      else await cache.fill(space, key, value, { ...options, lease })
      return reply.code(204).send()
    },
  )

  app.post(
    `${PATH}/expire`,
    {
      config,
      schema: {
        tags,
        operationId: 'expireCached',
        summary:
          'Mark a value as stale: the next request loads it again, and the stale value serves if the load fails',
        params: schemas.entryParams,
        response: answers204('The value is stale on all pods'),
      },
    },
    async (request, reply) => {
      await cache.expire(request.params.space, request.params.key)
      return reply.code(204).send()
    },
  )

  app.delete(
    PATH,
    {
      config,
      schema: {
        tags,
        operationId: 'deleteCached',
        summary: 'Delete a cached value, on all pods',
        params: schemas.entryParams,
        response: answers204('Deleted'),
      },
    },
    async (request, reply) => {
      await cache.delete(request.params.space, request.params.key)
      return reply.code(204).send()
    },
  )
}

/**
 * For callers that load missing values themselves: one caller gets the lease, the others wait or get the stale value.
 */
function addLeases(app: App, { catraca: { cache } }: ServerContext): void {
  const waiting = new Set<AbortController>()
  app.addHook('preClose', async () => {
    for (const stop of waiting) stop.abort()
  })
  app.post(
    `${PATH}/lease`,
    {
      config,
      schema: {
        tags,
        operationId: 'leaseCached',
        summary: 'Read a cached value, or get the lease to load it',
        params: schemas.entryParams,
        body: schemas.leaseRequest,
        response: answers({
          200: {
            description: 'The cached value. If a lease comes with it, the value is stale and you load it',
            schema: schemas.cachedOrStale,
          },
          201: {
            description: 'Nothing is cached: you hold the lease and load the value',
            schema: schemas.leased,
          },
          202: {
            description: 'Another caller loads the value; ask again after Retry-After',
            schema: schemas.loading,
          },
        }),
      },
    },
    async (request, reply) => {
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
        reply.header('retry-after', String(Math.max(1, Math.ceil(retryAfterMs / 1000))))
        return reply.code(202).send({ retryAfterMs })
      }
      if (answer.state === 'cached') return reply.code(200).send(shown(answer))
      const { lease, stale } = answer
      // The client disconnected, so it will not load.
      if (reply.raw.destroyed) await cache.release(space, key, lease)
      const expiresAt = answer.expiresAt.toISOString()
      if (stale === undefined) return reply.code(201).send({ lease, expiresAt })
      return reply.code(200).send({ ...shown(stale), lease, expiresAt })
    },
  )

  app.delete(
    `${PATH}/lease/:lease`,
    {
      config,
      schema: {
        tags,
        operationId: 'releaseCached',
        summary: 'Release a lease, because the load failed',
        params: schemas.leaseParams,
        response: answers204('Released: another caller may load at once'),
      },
    },
    async (request, reply) => {
      const { space, key, lease } = request.params
      await cache.release(space, key, lease)
      return reply.code(204).send()
    },
  )
}

const shown = ({ value, ageMs, stale, degraded }: CacheAnswer<unknown>) => ({
  ...{ value: value ?? null, ageMs: Math.round(ageMs) },
  ...(stale && { stale: true as const }),
  ...(degraded && { degraded: true as const }),
})
