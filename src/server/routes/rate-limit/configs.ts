import { CatracaError } from '../../../core/errors.js'
import type { ConfigAddress, ConfigChange } from '../../../guards/rate-limit/api.js'
import type { Level, LevelConfig } from '../../../guards/rate-limit/types.js'
import { CONFIGS, type EffectiveConfig, ofLevels } from '../../../wire/rate-limit/configs.js'
import type { ServerContext } from '../../http/context.js'
import type { App } from '../../http/instance.js'
import { addRoutes, type RequestOf } from '../add-routes.js'
import { visiblePage } from '../visible-page.js'

export function limitConfigRoutes(app: App, context: ServerContext): void {
  const { limits } = context.catraca
  const entity = async (id: string) => {
    const record = await limits.getEntity(id)
    if (record === undefined) throw unknownEntity()
    return { id, ...record }
  }
  addRoutes(app, context, CONFIGS, {
    // No field comes from a call here.
    resolveLimits: ({ query }) =>
      limits.resolveConfig(query.entity, query.resource) as Promise<EffectiveConfig>,
    ...ofLevels(
      configHandlers(context, 'system'),
      configHandlers(context, 'resource'),
      configHandlers(context, 'entity'),
    ),
    changeConfigs: ({ body }) => limits.changeConfigs(body.changes as ConfigChange[]),
    listEntities: ({ query }) => limits.listEntities(query),
    changeEntities: ({ body }) => limits.changeEntities(body.changes),
    getEntity: ({ params }) => entity(params.id),
    setEntity: async ({ params, body }) => {
      await limits.setEntity(params.id, body)
      return entity(params.id)
    },
    deleteEntity: async ({ params }) => {
      if (!(await limits.deleteEntity(params.id))) throw unknownEntity()
    },
  })
}

/** Only the entity level has an entity in its paths. */
interface Addressed {
  params: { entity?: string; resource: string }
}

function configHandlers(context: ServerContext, level: Level) {
  const { limits } = context.catraca
  const address = ({ params: { entity, resource } }: Addressed): ConfigAddress =>
    level === 'entity' ? { level, identifier: entity!, resource } : { level, resource }
  const get = async (request: Addressed) => {
    const at = address(request)
    return (await limits.getConfig(at)) ?? notFound(at)
  }
  return {
    list: ({ query, raw }: RequestOf<typeof CONFIGS.listEntityConfigs>) => {
      const read = (page: typeof query) => limits.listConfigs({ ...page, level })
      const reach = context.gate.reach(raw, 'read')
      if (reach === undefined) return read(query)
      return visiblePage(context, query, read, ({ resource }) => reach.covers('resources', resource))
    },
    get,
    set: async (request: Addressed & { body: unknown }) => {
      await limits.setConfig(address(request), request.body as LevelConfig)
      return get(request)
    },
    delete: async (request: Addressed) => {
      const at = address(request)
      if (!(await limits.deleteConfig(at))) notFound(at)
    },
  }
}

function notFound({ level, resource }: ConfigAddress): never {
  throw new CatracaError('LIMIT_CONFIG_NOT_FOUND', `the ${level} level has no configuration for ${resource}`)
}

const unknownEntity = () => new CatracaError('ENTITY_NOT_FOUND', 'nothing is known of this entity')
