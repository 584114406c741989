import type { CallOptions } from '../../../../src/client/operation.js'
import { ApiProblem, api, type ListEntityConfigsAnswer } from '../../api/client.js'
import type { Address, Level, LevelConfig, Levels } from './model.js'

export type Listed = ListEntityConfigsAnswer['items'][number]

type Options = { signal: AbortSignal }

/** Undefined when the level has no configuration. */
export async function readConfig(address: Address, options?: Options): Promise<LevelConfig | undefined> {
  return orNothing(() => {
    const { level, resource, entity = '' } = address
    if (level === 'system') return api.getSystemConfig({ resource }, options)
    if (level === 'resource') return api.getResourceConfig({ resource }, options)
    return api.getEntityConfig({ entity, resource }, options)
  })
}

export async function orNothing<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 404) return undefined
    throw error
  }
}

export async function readLevels(
  { resource, entity }: Omit<Address, 'level'>,
  options: Options,
): Promise<Levels> {
  const [system, ofResource, ofEntity] = await Promise.all([
    readConfig({ level: 'system', resource }, options),
    readConfig({ level: 'resource', resource }, options),
    entity === undefined ? undefined : readConfig({ level: 'entity', resource, entity }, options),
  ])
  return { system, resource: ofResource, entity: ofEntity }
}

export function writeConfig(
  address: Address,
  body: LevelConfig,
  call: CallOptions = {},
): Promise<LevelConfig> {
  const { level, resource, entity = '' } = address
  if (level === 'system') return api.setSystemConfig({ resource, body }, call)
  if (level === 'resource') return api.setResourceConfig({ resource, body }, call)
  return api.setEntityConfig({ entity, resource, body }, call)
}

export function removeConfig(address: Address, call: CallOptions = {}): Promise<unknown> {
  const { level, resource, entity = '' } = address
  if (level === 'system') return api.deleteSystemConfig({ resource }, call)
  if (level === 'resource') return api.deleteResourceConfig({ resource }, call)
  return api.deleteEntityConfig({ entity, resource }, call)
}

const PAGE = 1000
const MAX_PAGES = 5

export interface Resources {
  /** By name, sorted. */
  levels: ReadonlyMap<string, Levels>
  /** False when there are more than one page should load. */
  complete: boolean
}

/** Resources are operations and endpoints: few enough to load all of them, and to search among them. */
export async function readResources(options: Options): Promise<Resources> {
  const [system, resource] = await Promise.all([
    readAll((page) => api.listSystemConfigs(page, options)),
    readAll((page) => api.listResourceConfigs(page, options)),
  ])
  const levels = new Map<string, Levels>()
  const add = (level: Level, items: readonly Listed[]): void => {
    for (const { resource: name, config } of items) levels.set(name, { ...levels.get(name), [level]: config })
  }
  add('system', system.items)
  add('resource', resource.items)
  const sorted = [...levels].sort(([a], [b]) => (a < b ? -1 : 1))
  return { levels: new Map(sorted), complete: system.complete && resource.complete }
}

type PageInput = { limit: number; cursor?: string | undefined }
type ListPage = (page: PageInput) => Promise<ListEntityConfigsAnswer>

async function readAll(list: ListPage): Promise<{ items: Listed[]; complete: boolean }> {
  const items: Listed[] = []
  let cursor: string | undefined
  for (let page = 0; page < MAX_PAGES; page++) {
    const answer = await list({ limit: PAGE, cursor })
    items.push(...answer.items)
    cursor = answer.nextCursor
    if (cursor === undefined) return { items, complete: true }
  }
  return { items, complete: false }
}

export interface EntitiesQuery {
  resource: string | undefined
  /** Part of the entity name. */
  search: string
  cursor: string | undefined
  limit: number
}

/** The server lists entities but does not search them: a search reads some thousands at a time. */
export async function readEntities(query: EntitiesQuery, options: Options): Promise<ListEntityConfigsAnswer> {
  const { resource, search, limit } = query
  const list = (cursor: string | undefined, size: number) =>
    api.listEntityConfigs({ resource, cursor, limit: size }, options)
  if (search === '') return list(query.cursor, limit)
  const wanted = search.toLowerCase()
  const items: Listed[] = []
  let { cursor } = query
  for (let page = 0; page < MAX_PAGES && items.length < limit; page++) {
    const answer = await list(cursor, PAGE)
    items.push(...answer.items.filter(({ identifier }) => identifier?.toLowerCase().includes(wanted)))
    cursor = answer.nextCursor
    if (cursor === undefined) break
  }
  return cursor === undefined ? { items } : { items, nextCursor: cursor }
}
