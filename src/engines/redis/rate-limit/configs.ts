import type {
  ConfigBatch,
  ConfigPage,
  ConfigPageRequest,
  LimitConfigStore,
} from '../../../guards/rate-limit/port.js'
import type { ConfigKey, EntityRecord, Level, LevelConfig } from '../../../guards/rate-limit/types.js'
import type { Redis } from '../link/redis.js'
import { defineScript } from '../link/script.js'
import {
  CONFIG_KEY,
  CONFIG_ORDER_KEY,
  configField,
  keyOfField,
  NOTICES_KEY,
  parentField,
  SCHEMA_FIELD,
  SECRET_KEY,
} from './keys.js'
import { configNotice, type Notices } from './notices.js'

const CHANGE = defineScript('limit-config', { keys: ['hash', 'string', 'zset'], write: true })
const LIST = defineScript('limit-config-list', { keys: ['hash', 'zset'], write: true, repeatable: true })

/** All levels in one hash: a subject's configuration is one command. */
export class RedisLimitConfigs implements LimitConfigStore {
  private kept: string | undefined

  constructor(
    private readonly redis: Redis,
    private readonly notices: Notices,
  ) {
    // After data loss, a process that starts later would create another secret, and neither could read the other's
    // leases. So it is stored again.
    notices.onLost(() => {
      if (this.kept !== undefined) this.secret(this.kept).catch(() => {})
    })
  }

  async read(keys: readonly ConfigKey[], entity: string | undefined): Promise<ConfigBatch> {
    const fields = [SCHEMA_FIELD, ...keys.map(configField)]
    if (entity !== undefined) fields.push(parentField(entity))
    const texts = (await this.redis.read(CONFIG_KEY, ['HMGET', CONFIG_KEY, ...fields])) as (string | null)[]
    const [schema, ...records] = texts
    const parent = entity === undefined ? undefined : records.pop()
    return {
      configs: records.map((text) => parsed<LevelConfig>(text)),
      entity: parsed<EntityRecord>(parent),
      schemaVersion: Number(schema ?? 1),
    }
  }

  async list(level: Level, { after, limit, resource }: ConfigPageRequest): Promise<ConfigPage> {
    // `;` is the character after `:`. One more row shows whether there is a next page.
    const args = [
      after === undefined ? `[${level}:` : `(${configField(after)}`,
      `(${level};`,
      String(limit + 1),
    ]
    const found = (await this.redis.run(LIST, [CONFIG_KEY, CONFIG_ORDER_KEY], args)) as string[]
    const keys = found.slice(0, limit).map((field) => keyOfField(level, field))
    const wanted = keys.filter((key) => resource === undefined || key.resource === resource)
    const { configs } = await this.read(wanted, undefined)
    const items = wanted.flatMap((key, i) => (configs[i] === undefined ? [] : [{ key, config: configs[i] }]))
    return found.length > limit ? { items, next: keys.at(-1)! } : { items }
  }

  async write(key: ConfigKey, config: LevelConfig): Promise<void> {
    await this.change(key, configField(key), JSON.stringify(config))
  }

  async remove(key: ConfigKey): Promise<boolean> {
    return this.change(key, configField(key))
  }

  async writeEntity(id: string, record: EntityRecord): Promise<void> {
    await this.change(undefined, parentField(id), JSON.stringify(record))
  }

  async removeEntity(id: string): Promise<boolean> {
    return this.change(undefined, parentField(id))
  }

  async migrate(schemaVersion: number): Promise<void> {
    await this.change(undefined, SCHEMA_FIELD, String(schemaVersion), 'at least')
  }

  async secret(candidate: string): Promise<string> {
    let found = await this.readSecret()
    // Only if it is missing: a full server that has the secret must not be asked to store another.
    if (found === undefined) {
      await this.redis.write(SECRET_KEY, ['SETNX', SECRET_KEY, candidate])
      found = await this.readSecret()
    }
    this.kept ??= found ?? candidate
    return this.kept
  }

  private async readSecret(): Promise<string | undefined> {
    const kept = await this.redis.read(SECRET_KEY, ['GET', SECRET_KEY])
    return kept === null ? undefined : String(kept)
  }

  watch(listener: (changed: ConfigKey | undefined) => void): () => void {
    return this.notices.onConfig(listener)
  }

  private async change(key: ConfigKey | undefined, field: string, ...value: string[]): Promise<boolean> {
    const args = [this.notices.channel, configNotice(key), field, ...value]
    return (await this.redis.run(CHANGE, [CONFIG_KEY, NOTICES_KEY, CONFIG_ORDER_KEY], args)) === 1
  }
}

const parsed = <T>(text: string | null | undefined): T | undefined =>
  text === null || text === undefined ? undefined : (JSON.parse(text) as T)
