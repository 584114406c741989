import { invalid } from '../errors.js'
import { identifier, plainName } from '../key.js'
import type { ConfigAddress } from './api.js'
import { parseConfigKey, parseLevelConfig } from './level-config.js'
import type { Policies } from './policies.js'
import type { LimitConfigStore } from './port.js'
import type { ConfigKey, EntityRecord, LevelConfig, ResolvedConfig } from './types.js'

/** The configuration of limits, level by level, and the parents of entities. */
export class LimitConfigs {
  constructor(
    private readonly store: LimitConfigStore,
    private readonly policies: Policies,
    /** Told when something was changed here. */
    private readonly onChange: () => void,
  ) {}

  async get(address: ConfigAddress): Promise<LevelConfig | undefined> {
    return (await this.store.read([keyOf(address)], undefined)).configs[0]
  }

  async set(address: ConfigAddress, config: LevelConfig): Promise<void> {
    const key = keyOf(address)
    await this.store.write(key, parseLevelConfig(key.level, config))
    this.changed(key)
  }

  async delete(address: ConfigAddress): Promise<boolean> {
    const key = keyOf(address)
    const removed = await this.store.remove(key)
    this.changed(key)
    return removed
  }

  resolve(entity: string, resource: string): Promise<ResolvedConfig> {
    const subject = { entity: identifier('entity', entity), resource: plainName('resource', resource) }
    return this.policies.resolve(subject)
  }

  async getEntity(id: string): Promise<EntityRecord | undefined> {
    return (await this.store.read([], identifier('entity', id))).entity
  }

  async setEntity(id: string, record: { parent: string; cascade?: boolean }): Promise<void> {
    const entity = identifier('entity', id)
    const parent = identifier('parent', record.parent)
    const { cascade = true } = record
    if (parent === entity) throw invalid('parent', 'must be another entity')
    if (typeof cascade !== 'boolean') throw invalid('cascade', 'must be true or false')
    await this.store.writeEntity(entity, { parent, cascade })
    this.invalidate(entity)
  }

  async deleteEntity(id: string): Promise<boolean> {
    const entity = identifier('entity', id)
    const removed = await this.store.removeEntity(entity)
    this.invalidate(entity)
    return removed
  }

  invalidate(entity?: string, resource?: string): void {
    this.policies.cache.invalidate(entity, resource)
    this.onChange()
  }

  private changed(key: ConfigKey): void {
    this.invalidate(key.level === 'entity' ? key.entity : undefined, key.resource)
  }
}

const keyOf = ({ level, identifier: id, resource }: ConfigAddress): ConfigKey =>
  parseConfigKey(level, id, resource)
