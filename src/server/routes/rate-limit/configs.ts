import { CatracaError } from '../../../core/errors.js'
import type { ConfigAddress } from '../../../guards/rate-limit/api.js'
import type { LevelConfig } from '../../../guards/rate-limit/types.js'
import type { App, ServerContext } from '../../http/context.js'
import { answers204 } from '../allowlist/lists.js'
import { pageQuery } from '../allowlist/schemas.js'
import { answers } from '../responses.js'
import * as schemas from './schemas.js'

const tags = ['limits']

/** Each level with the path of its records, and a function from path parameters to the address of a record. */
const LEVELS = [
  {
    level: 'system',
    all: '/config/system',
    path: '/config/system/:resource',
    name: 'the system level',
    operation: 'SystemConfig',
    params: schemas.resourceParams,
    address: ({ resource }: Params): ConfigAddress => ({ level: 'system', resource }),
  },
  {
    level: 'resource',
    all: '/config/resources',
    path: '/config/resources/:resource',
    name: 'a resource',
    operation: 'ResourceConfig',
    params: schemas.resourceParams,
    address: ({ resource }: Params): ConfigAddress => ({ level: 'resource', resource }),
  },
  {
    level: 'entity',
    all: '/config/entities',
    path: '/config/entities/:entity/:resource',
    name: 'an entity',
    operation: 'EntityConfig',
    params: schemas.subjectParams,
    address: ({ entity, resource }: Params): ConfigAddress => ({
      level: 'entity',
      identifier: entity,
      resource,
    }),
  },
] as const

interface Params {
  entity?: string
  resource: string
}

const one = (description: string) => ({ 200: { description, schema: schemas.storedConfig } })

export function limitConfigRoutes(app: App, context: ServerContext): void {
  addResolve(app, context)
  for (const level of LEVELS) {
    addList(app, context, level)
    addLevel(app, context, level)
  }
  addEntities(app, context)
}

function addResolve(app: App, { catraca: { limits } }: ServerContext): void {
  app.get(
    '/config/resolve',
    {
      config: { scope: 'read' },
      schema: {
        tags,
        operationId: 'resolveLimits',
        summary:
          'Read the effective limits of an entity, or without `entity` of one that has no configuration, and the level that each field comes from',
        querystring: schemas.resolveQuery,
        response: answers({ 200: { description: 'Resolved', schema: schemas.resolvedConfig } }),
      },
    },
    (request) => limits.resolveConfig(request.query.entity, request.query.resource),
  )
}

function addList(
  app: App,
  { catraca: { limits } }: ServerContext,
  { level, all, name, operation }: (typeof LEVELS)[number],
): void {
  app.get(
    all,
    {
      config: { scope: 'read' },
      schema: {
        tags,
        operationId: `list${operation}s`,
        summary: `List the limit configurations of ${name}`,
        querystring: level === 'entity' ? schemas.entityConfigsQuery : pageQuery,
        response: answers({ 200: { description: 'A page', schema: schemas.listedConfigs } }),
      },
    },
    (request) => limits.listConfigs({ ...request.query, level }),
  )
}

function addLevel(
  app: App,
  { catraca: { limits } }: ServerContext,
  { path, name, operation, params, address }: (typeof LEVELS)[number],
): void {
  app.get(
    path,
    {
      config: { scope: 'read' },
      schema: {
        tags,
        operationId: `get${operation}`,
        summary: `Read the limit configuration of ${name}`,
        params,
        response: answers(one('As it was set')),
      },
    },
    async (request) => {
      const at = address(request.params as Params)
      return (await limits.getConfig(at)) ?? notFound(at)
    },
  )

  app.put(
    path,
    {
      config: { scope: 'admin' },
      schema: {
        tags,
        operationId: `set${operation}`,
        summary: `Set the limit configuration of ${name}; absent fields are inherited`,
        params,
        body: schemas.levelConfig,
        response: answers(one('As it is now')),
      },
    },
    async (request) => {
      const at = address(request.params as Params)
      await limits.setConfig(at, request.body as LevelConfig)
      return (await limits.getConfig(at)) ?? notFound(at)
    },
  )

  app.delete(
    path,
    {
      config: { scope: 'admin' },
      schema: {
        tags,
        operationId: `delete${operation}`,
        summary: `Delete the limit configuration of ${name}`,
        params,
        response: answers204('Gone'),
      },
    },
    async (request, reply) => {
      const at = address(request.params as Params)
      if (!(await limits.deleteConfig(at))) notFound(at)
      return reply.code(204).send()
    },
  )
}

function notFound({ level, resource }: ConfigAddress): never {
  throw new CatracaError('LIMIT_CONFIG_NOT_FOUND', `the ${level} level has no configuration for ${resource}`)
}

function addEntities(app: App, { catraca: { limits } }: ServerContext): void {
  const params = schemas.entityParams
  const stored = { 200: { description: 'The entity', schema: schemas.storedEntity } }
  const read = async (id: string) => {
    const record = await limits.getEntity(id)
    if (record === undefined) throw new CatracaError('ENTITY_NOT_FOUND', 'nothing is known of this entity')
    return { id, ...record }
  }
  app.get(
    '/entities/:id',
    {
      config: { scope: 'read' },
      schema: {
        tags,
        operationId: 'getEntity',
        summary: 'Read the parent of an entity',
        params,
        response: answers(stored),
      },
    },
    (request) => read(request.params.id),
  )

  app.put(
    '/entities/:id',
    {
      config: { scope: 'admin' },
      schema: {
        tags,
        operationId: 'setEntity',
        summary: 'Set the parent of an entity; its calls consume from the parent too',
        params,
        body: schemas.entityRecord,
        response: answers(stored),
      },
    },
    async (request) => {
      await limits.setEntity(request.params.id, request.body)
      return read(request.params.id)
    },
  )

  app.delete(
    '/entities/:id',
    {
      config: { scope: 'admin' },
      schema: {
        tags,
        operationId: 'deleteEntity',
        summary: 'Remove the parent of an entity',
        params,
        response: answers204('Forgotten'),
      },
    },
    async (request, reply) => {
      if (!(await limits.deleteEntity(request.params.id))) {
        throw new CatracaError('ENTITY_NOT_FOUND', 'nothing is known of this entity')
      }
      return reply.code(204).send()
    },
  )
}
