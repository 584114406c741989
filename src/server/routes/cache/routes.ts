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
        summary: 'What is cached under a key',
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
        summary: 'Cache a value; with a lease, only while it holds',
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
        summary: 'Let it be loaded anew; what there is covers for a load that fails',
        params: schemas.entryParams,
        response: answers204('It is stale on all pods'),
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
        summary: 'Forget what is cached under a key, on all pods',
        params: schemas.entryParams,
        response: answers204('It is not cached any more'),
      },
    },
    async (request, reply) => {
      await cache.delete(request.params.space, request.params.key)
      return reply.code(204).send()
    },
  )
}

/** Somebody elsewhere loads what is missing: one caller gets the lease, the others wait or get what is stale. */
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
        summary: 'What is cached, or the lease to load it',
        params: schemas.entryParams,
        body: schemas.leaseRequest,
        response: answers({
          200: {
            description: 'It is cached; with a lease it is stale, and you load',
            schema: schemas.cachedOrStale,
          },
          201: { description: 'You load', schema: schemas.leased },
          202: { description: 'Somebody else loads; Retry-After', schema: schemas.loading },
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
          throw stop.signal.aborted ? new CatracaError('SHUTTING_DOWN', 'the wait was ended') : error
        })
        .finally(() => waiting.delete(stop))
      if (answer.state === 'busy') {
        const retryAfterMs = Math.ceil(answer.retryAfterMs)
        reply.header('retry-after', String(Math.max(1, Math.ceil(retryAfterMs / 1000))))
        return reply.code(202).send({ retryAfterMs })
      }
      if (answer.state === 'cached') return reply.code(200).send(shown(answer))
      const { lease, stale } = answer
      // Nobody is there to load.
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
        summary: 'Give a lease back, because the load failed',
        params: schemas.leaseParams,
        response: answers204('Others may load at once'),
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
