import { CatracaError } from '../../errors.js'
import * as schemas from '../cache-schemas.js'
import type { App, ServerContext } from '../context.js'
import { answers204 } from './allowlists.js'
import { answers } from './responses.js'

const tags = ['cache']
const config = { scope: 'cache' } as const
const PATH = '/cache/:space/:key'

export function cacheRoutes(app: App, context: ServerContext): void {
  addReads(app, context)
  addWrites(app, context)
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
      const { value, ageMs, stale, degraded } = answer
      return { value, ageMs: Math.round(ageMs), ...(stale && { stale }), ...(degraded && { degraded }) }
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

function addWrites(app: App, { catraca: { cache } }: ServerContext): void {
  app.put(
    PATH,
    {
      config,
      schema: {
        tags,
        operationId: 'setCached',
        summary: 'Cache a value',
        params: schemas.entryParams,
        body: schemas.newEntry,
        response: answers204('Cached'),
      },
    },
    async (request, reply) => {
      const { space, key } = request.params
      const { value, ttlMs } = request.body
      await cache.set(space, key, value, ttlMs === undefined ? {} : { ttlMs })
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
