import { ALGORITHMS } from '../../guards/rate-limit/rule.js'
import { LIMITS_ON_UNAVAILABLE } from '../../guards/rate-limit/types.js'
import { byName, Changed, changesOf, closed, oneOf, page, pageOf } from '../common.js'
import { operations } from '../operation.js'
import { resourceInPath, resourceInQuery, resourcesInChanges } from '../reach.js'
import { type Static, type TProperties, Type } from '../typebox.js'
import { entity, resource } from './limits.js'

const limit = Type.Partial(
  Type.Object({
    capacity: Type.Integer(),
    burst: Type.Integer({ description: 'What a token bucket holds; at least the capacity' }),
    refillAmount: Type.Integer(),
    refillPeriodSeconds: Type.Integer({
      description: 'Period of the refill, length of the window, or longest hold of a concurrency slot',
    }),
    algorithm: oneOf(ALGORITHMS),
    mode: oneOf(['enforce', 'shadow']),
  }),
  { description: 'Fields that are absent are inherited' },
)
const onUnavailable = oneOf(LIMITS_ON_UNAVAILABLE, 'When the store does not answer')

export const LevelConfig = Type.Object(
  {
    limits: Type.Optional(byName(limit)),
    onUnavailable: Type.Optional(onUnavailable),
    autoUpdate: Type.Optional(Type.Boolean({ description: 'On system only' })),
    strictVersion: Type.Optional(Type.Boolean({ description: 'On system only' })),
  },
  closed,
)
const unreadable = Type.Optional(
  byName(Type.String(), {
    description: 'Limits that another program wrote and that cannot be used, each with the reason',
  }),
)
const StoredConfig = Type.Object({ ...LevelConfig.properties, unreadable }, closed)

const address = {
  level: oneOf(['system', 'resource', 'entity']),
  identifier: Type.Optional(Type.String({ description: 'The entity, on the entity level' })),
  resource,
}
const ListedConfigs = pageOf(Type.Object({ ...address, config: StoredConfig }, closed))

const ifMatch = Type.Optional(
  Type.String({ description: 'Hash of what must be stored, as `configVersion` makes it; absent: nothing' }),
)
const ConfigChange = Type.Object(
  { ...address, ifMatch, config: Type.Optional(LevelConfig) },
  { ...closed, description: 'Without `config` the record is deleted' },
)

const fieldLevel = oneOf(['entity', 'resource', 'system', 'entity:*', 'system:*', 'defaults'])
const cappedNumber = Type.Partial(Type.Object({ stated: Type.Integer(), by: fieldLevel }))

const EffectiveConfig = Type.Object(
  {
    entity: Type.Optional(entity),
    resource,
    limits: byName(limit),
    onUnavailable,
    autoUpdate: Type.Boolean(),
    strictVersion: Type.Boolean(),
    levels: Type.Partial(
      Type.Object({
        limits: byName(byName(fieldLevel)),
        onUnavailable: fieldLevel,
        autoUpdate: fieldLevel,
        strictVersion: fieldLevel,
      }),
      { description: 'Which level each field comes from' },
    ),
    capped: Type.Optional(
      byName(Type.Partial(Type.Object({ burst: cappedNumber, refillAmount: cappedNumber })), {
        description:
          'Inherited numbers that a lower capacity caps: the stated number, and the level that caps it',
      }),
    ),
    unreadable,
  },
  closed,
)
export type EffectiveConfig = Static<typeof EffectiveConfig>

/** The operations of one level. */
function configOperations<Params extends TProperties, Query extends TProperties>(
  { of, all, path }: { of: string; all: string; path: string },
  params: Params,
  query: Query,
) {
  return {
    list: {
      route: `GET ${all}`,
      summary: `List the limit configurations of ${of}`,
      scope: 'read',
      reach: 'filtered',
      query,
      answers: { 200: ['A page', ListedConfigs] },
    },
    get: {
      route: `GET ${path}`,
      summary: `Read the limit configuration of ${of}`,
      scope: 'read',
      reach: resourceInPath,
      params,
      answers: { 200: ['As it was set', StoredConfig] },
    },
    set: {
      route: `PUT ${path}`,
      summary: `Set the limit configuration of ${of}; absent fields are inherited`,
      scope: 'admin',
      reach: resourceInPath,
      params,
      body: LevelConfig,
      answers: { 200: ['As it is now', StoredConfig] },
    },
    delete: {
      route: `DELETE ${path}`,
      summary: `Delete the limit configuration of ${of}`,
      scope: 'admin',
      reach: resourceInPath,
      params,
      answers: { 204: 'Gone' },
    },
  } as const
}

const ofSystem = configOperations(
  { of: 'the system level', all: '/config/system', path: '/config/system/:resource' },
  { resource },
  page,
)
const ofResource = configOperations(
  { of: 'a resource', all: '/config/resources', path: '/config/resources/:resource' },
  { resource },
  page,
)
const ofEntity = configOperations(
  { of: 'an entity', all: '/config/entities', path: '/config/entities/:entity/:resource' },
  { entity, resource },
  { ...page, resource: Type.Optional(resource) },
)

const entityParams = { id: entity }
const Entity = Type.Object({ id: entity, parent: Type.String(), cascade: Type.Boolean() }, closed)
export const Parent = Type.Object(
  { parent: Type.String(), cascade: Type.Optional(Type.Boolean({ description: 'true when absent' })) },
  closed,
)
const EntityChange = Type.Object(
  { id: entity, ifMatch, record: Type.Optional(Parent) },
  { ...closed, description: 'Without `record` the parent is removed' },
)

interface OfLevel {
  list: unknown
  get: unknown
  set: unknown
  delete: unknown
}

/** What the levels have, by the names of the operations: they are the same for descriptions and for handlers. */
export const ofLevels = <System extends OfLevel, Resource extends OfLevel, Entity extends OfLevel>(
  system: System,
  resource: Resource,
  entity: Entity,
) => ({
  listSystemConfigs: system.list as System['list'],
  getSystemConfig: system.get as System['get'],
  setSystemConfig: system.set as System['set'],
  deleteSystemConfig: system.delete as System['delete'],
  listResourceConfigs: resource.list as Resource['list'],
  getResourceConfig: resource.get as Resource['get'],
  setResourceConfig: resource.set as Resource['set'],
  deleteResourceConfig: resource.delete as Resource['delete'],
  listEntityConfigs: entity.list as Entity['list'],
  getEntityConfig: entity.get as Entity['get'],
  setEntityConfig: entity.set as Entity['set'],
  deleteEntityConfig: entity.delete as Entity['delete'],
})

export const CONFIGS = operations('limits', {
  resolveLimits: {
    route: 'GET /config/resolve',
    summary:
      'Read the effective limits of an entity, or without `entity` of one that has no configuration, and the level that each field comes from',
    scope: 'read',
    reach: resourceInQuery,
    query: { entity: Type.Optional(entity), resource },
    answers: { 200: ['Resolved', EffectiveConfig] },
  },
  ...ofLevels(ofSystem, ofResource, ofEntity),
  changeConfigs: {
    route: 'POST /config/changes',
    summary: 'Set and delete many limit configurations: all of them, or none',
    scope: 'admin',
    reach: resourcesInChanges,
    body: changesOf(ConfigChange),
    hasLargeBody: true,
    answers: { 200: ['How many were changed', Changed] },
  },
  listEntities: {
    route: 'GET /entities',
    summary: 'List the entities that have a parent',
    scope: 'read',
    query: page,
    answers: { 200: ['A page', pageOf(Entity)] },
  },
  changeEntities: {
    route: 'POST /entities/changes',
    summary: 'Set and remove the parents of many entities: all of them, or none',
    scope: 'admin',
    body: changesOf(EntityChange),
    hasLargeBody: true,
    answers: { 200: ['How many were changed', Changed] },
  },
  getEntity: {
    route: 'GET /entities/:id',
    summary: 'Read the parent of an entity',
    scope: 'read',
    params: entityParams,
    answers: { 200: ['The entity', Entity] },
  },
  setEntity: {
    route: 'PUT /entities/:id',
    summary: 'Set the parent of an entity; its calls consume from the parent too',
    scope: 'admin',
    params: entityParams,
    body: Parent,
    answers: { 200: ['The entity', Entity] },
  },
  deleteEntity: {
    route: 'DELETE /entities/:id',
    summary: 'Remove the parent of an entity',
    scope: 'admin',
    params: entityParams,
    answers: { 204: 'Forgotten' },
  },
})
