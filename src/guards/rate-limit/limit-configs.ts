import { checkChanges, within } from '../../core/change-set.js'
import { chunksOf } from '../../core/chunks.js'
import { invalid } from '../../core/errors.js'
import { identifier } from '../../core/identifiers.js'
import { invalidCursor, makeCursor, parsePage } from '../../core/paging.js'
import type { Page, PageRequest } from '../allowlist/types.js'
import type {
  ConfigAddress,
  ConfigChange,
  ConfigQuery,
  EntityChange,
  ListedConfig,
  ListedEntity,
} from './api.js'
import { refuseNewer } from './config-cache.js'
import { changedOrConflict } from './config-set.js'
import { configKeyOf as keyOf, parseConfigKey, parseLevelConfig } from './level-config.js'
import { levelsOf, resourceOrAll } from './levels.js'
import type { Policies } from './policies.js'
import type { ConfigSetStep, LimitConfigStore } from './port.js'
import type { Layer } from './resolve.js'
import type { ConfigKey, EntityRecord, FieldLevel, Level, LevelConfig, ResolvedConfig } from './types.js'

/** When filtering by resource: records read per batch, and batches per page. */
const LISTED_PAGE = 1000
/** Levels that one read asks for, when a set of changes is checked. */
const READ_AT_ONCE = 50
const MAX_LISTED_PAGES = 10
const LEVELS: readonly Level[] = ['system', 'resource', 'entity']
const MAX_CURSOR_LENGTH = 1000

/** The stored configuration of limits at each level, and the parents of entities. */
export class LimitConfigs {
  constructor(
    private readonly store: LimitConfigStore,
    protected readonly policies: Policies,
  ) {}

  async getConfig(address: ConfigAddress): Promise<LevelConfig | undefined> {
    return (await this.store.read([keyOf(address)], undefined)).configs[0]
  }

  async listConfigs(query: ConfigQuery): Promise<Page<ListedConfig>> {
    const { level, resource } = parseConfigQuery(query)
    const { limit } = parsePage({ ...(query.limit !== undefined && { limit: query.limit }) })
    let after = query.cursor === undefined ? undefined : readConfigCursor(level, query.cursor)
    const items: ListedConfig[] = []
    // Bounded: for a resource that few entities configure, one page must not scan the whole store.
    for (let pages = 0; pages < MAX_LISTED_PAGES && items.length < limit; pages++) {
      const page = await this.store.list(level, {
        limit: resource === undefined ? limit : LISTED_PAGE,
        ...(after && { after }),
        ...(resource !== undefined && { resource }),
        ...(query.scan && { scan: true }),
      })
      items.push(...page.items.map(listed))
      after = page.next
      if (after === undefined) break
    }
    if (items.length > limit) {
      after = keyOf(items[limit - 1]!)
      items.length = limit
    }
    return after === undefined ? { items } : { items, nextCursor: makeConfigCursor(after) }
  }

  async setConfig(address: ConfigAddress, config: LevelConfig): Promise<void> {
    const key = keyOf(address)
    const checked = parseLevelConfig(key.level, config)
    await this.checkWithLevelsBelow(key, checked)
    await this.store.write(key, checked)
    this.policies.cache.invalidateKey(key)
  }

  async deleteConfig(address: ConfigAddress): Promise<boolean> {
    const key = keyOf(address)
    const removed = await this.store.remove(key)
    this.policies.cache.invalidateKey(key)
    return removed
  }

  async changeConfigs(changes: readonly ConfigChange[]): Promise<{ changed: number }> {
    const steps = checkChanges(changes, ({ config, ifMatch, ...address }) => {
      const key = keyOf(address)
      const parsed = config === undefined ? undefined : parseLevelConfig(key.level, config)
      return [nameOf(key), { key, config: parsed, ifMatch }]
    })
    if (steps.length === 0) return { changed: 0 }
    await this.checkAllWithLevelsBelow(steps)
    const outcome = await this.store.changeAll(steps)
    this.policies.cache.invalidate()
    return changedOrConflict(outcome, steps)
  }

  /** Each record with the levels below it, as all of them are after the changes. */
  private async checkAllWithLevelsBelow(
    steps: readonly { key: ConfigKey; config: LevelConfig | undefined }[],
  ): Promise<void> {
    const after = new Map(steps.map(({ key, config }) => [nameOf(key), config]))
    const set = steps.filter(({ config }) => config !== undefined)
    const levels = set.map(({ key }) =>
      levelsOf(key.level === 'entity' ? key.entity : undefined, key.resource),
    )
    const unread = new Map(levels.flat().map(([, key]) => [nameOf(key), key]))
    for (const name of after.keys()) unread.delete(name)
    for (const keys of chunksOf([...unread.values()], READ_AT_ONCE)) {
      const { configs, schemaVersion } = await this.store.read(keys, undefined)
      for (const config of configs) refuseNewer(schemaVersion, [config])
      for (const [i, key] of keys.entries()) after.set(nameOf(key), configs[i])
    }
    for (const [i, { key, config }] of set.entries()) {
      const layers = levels[i]!.map(([level, at]): Layer => ({ level, config: after.get(nameOf(at)) }))
      const own = levels[i]!.findIndex(([, { level }]) => level === key.level)
      within(`changes[${steps.indexOf(set[i]!)}].config`, () =>
        this.policies.check(Object.keys(config!.limits), key.resource, [
          { ...layers[own]!, config },
          ...layers.slice(own + 1),
        ]),
      )
    }
  }

  private async checkWithLevelsBelow(key: ConfigKey, config: LevelConfig): Promise<void> {
    const { resource } = key
    const levels = levelsOf(key.level === 'entity' ? key.entity : undefined, resource)
    const own = levels.findIndex(([, { level }]) => level === key.level)
    const { layers, schemaVersion } = await this.read(levels)
    refuseNewer(
      schemaVersion,
      layers.map(({ config }) => config),
    )
    const [{ level }, ...below] = layers.slice(own) as [Layer, ...Layer[]]
    this.policies.check(Object.keys(config.limits), resource, [{ level, config }, ...below])
  }

  /** Reads the store, not the cache: a caller that has just changed a level wants the new result. */
  async resolveConfig(entity: string | undefined, resource: string): Promise<ResolvedConfig> {
    const subject = {
      ...(entity !== undefined && { entity: identifier('entity', entity) }),
      resource: resourceOrAll('resource', resource),
    }
    const { layers } = await this.read(levelsOf(subject.entity, subject.resource))
    return this.policies.resolve(subject, layers)
  }

  private async read(
    levels: readonly [FieldLevel, ConfigKey][],
  ): Promise<{ layers: Layer[]; schemaVersion: number }> {
    const keys = levels.map(([, key]) => key)
    const { configs, schemaVersion } = await this.store.read(keys, undefined)
    return { layers: levels.map(([level], i) => ({ level, config: configs[i] })), schemaVersion }
  }

  async getEntity(id: string): Promise<EntityRecord | undefined> {
    return (await this.store.read([], identifier('entity', id))).entity
  }

  async setEntity(id: string, record: { parent: string; cascade?: boolean }): Promise<void> {
    const entity = identifier('entity', id)
    await this.store.writeEntity(entity, entityRecord(entity, record))
    this.policies.cache.invalidate(entity)
  }

  async listEntities(page: PageRequest = {}): Promise<Page<ListedEntity>> {
    const { limit, after } = parsePage(page)
    const { items, next } = await this.store.listEntities(after, limit)
    const entities = items.map(({ id, record }) => ({ id, ...record }))
    return next === undefined ? { items: entities } : { items: entities, nextCursor: makeCursor(next) }
  }

  async changeEntities(changes: readonly EntityChange[]): Promise<{ changed: number }> {
    const steps = checkChanges(changes, ({ id, record, ifMatch }): [string, ConfigSetStep] => {
      const entity = identifier('id', id)
      return [entity, { entity, record: record && entityRecord(entity, record), ifMatch }]
    })
    if (steps.length === 0) return { changed: 0 }
    const outcome = await this.store.changeAll(steps)
    this.policies.cache.invalidate()
    return changedOrConflict(outcome, steps)
  }

  async deleteEntity(id: string): Promise<boolean> {
    const entity = identifier('entity', id)
    const removed = await this.store.removeEntity(entity)
    this.policies.cache.invalidate(entity)
    return removed
  }

  /**
   * Drops cached configurations of an entity, of a resource, of both together, or all. The next call reads the store.
   */
  invalidateConfigCache(entity?: string, resource?: string): void {
    this.policies.cache.invalidate(entity, resource)
  }
}

const nameOf = (key: ConfigKey): string => JSON.stringify(Object.values(key))

function entityRecord(entity: string, record: { parent: string; cascade?: boolean }): EntityRecord {
  const parent = identifier('parent', record.parent)
  const { cascade = true } = record
  if (parent === entity) throw invalid('parent', 'must be another entity')
  if (typeof cascade !== 'boolean') throw invalid('cascade', 'must be true or false')
  return { parent, cascade }
}

function parseConfigQuery({ level, resource }: ConfigQuery): { level: Level; resource?: string } {
  if (!LEVELS.includes(level)) throw invalid('level', `must be ${LEVELS.join(' or ')}`)
  if (resource === undefined) return { level }
  if (level !== 'entity') throw invalid('resource', 'is accepted on the entity level only')
  return { level, resource: resourceOrAll('resource', resource) }
}

function listed({ key, config }: { key: ConfigKey; config: LevelConfig }): ListedConfig {
  const { level, resource } = key
  return level === 'entity'
    ? { level, identifier: key.entity, resource, config }
    : { level, resource, config }
}

/** The last record of a page, encoded so that callers treat it as opaque. */
function makeConfigCursor(key: ConfigKey): string {
  const parts = key.level === 'entity' ? [key.resource, key.entity] : [key.resource]
  return Buffer.from(JSON.stringify(parts)).toString('base64url')
}

function readConfigCursor(level: Level, cursor: unknown): ConfigKey {
  if (typeof cursor !== 'string' || cursor.length > MAX_CURSOR_LENGTH) throw invalidCursor()
  try {
    const [resource, entity] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[]
    return parseConfigKey(level, entity, resource)
  } catch {
    throw invalidCursor()
  }
}
