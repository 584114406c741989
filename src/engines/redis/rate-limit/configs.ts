import { differs } from '../../../guards/rate-limit/config-set.js'
import type {
  ConfigBatch,
  ConfigPage,
  ConfigPageRequest,
  ConfigSetOutcome,
  ConfigSetStep,
  EntityPage,
  LimitConfigStore,
} from '../../../guards/rate-limit/port.js'
import { configFrom, storedText } from '../../../guards/rate-limit/stored-config.js'
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
const CHANGE_ALL = defineScript('limit-config-set', { keys: ['hash', 'string', 'zset'], write: true })
const LIST = defineScript('limit-config-list', { keys: ['hash', 'zset'], write: true, repeatable: true })

/** A set whose records keep changing while it is compared is refused after this many attempts. */
const SET_ATTEMPTS = 5
const PARENTS = 'parent:'

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
      configs: records.map(parsedConfig),
      entity: parsed<EntityRecord>(parent),
      schemaVersion: Number(schema ?? 1),
    }
  }

  async list(level: Level, { after, limit, resource }: ConfigPageRequest): Promise<ConfigPage> {
    const found = await this.fields(level, after && configField(after), limit + 1)
    const keys = found.slice(0, limit).map((field) => keyOfField(level, field))
    const wanted = keys.filter((key) => resource === undefined || key.resource === resource)
    const { configs } = await this.read(wanted, undefined)
    const items = wanted.flatMap((key, i) => (configs[i] === undefined ? [] : [{ key, config: configs[i] }]))
    return found.length > limit ? { items, next: keys.at(-1)! } : { items }
  }

  /** `;` is the character after `:`. Callers ask for one more field, which shows whether there is a next page. */
  private async fields(kind: string, after: string | undefined, count: number): Promise<string[]> {
    const args = [after === undefined ? `[${kind}:` : `(${after}`, `(${kind};`, String(count)]
    return (await this.redis.run(LIST, [CONFIG_KEY, CONFIG_ORDER_KEY], args)) as string[]
  }

  async listEntities(after: string | undefined, limit: number): Promise<EntityPage> {
    const found = await this.fields('parent', after && parentField(after), limit + 1)
    const fields = found.slice(0, limit)
    const texts = await this.texts(fields)
    const items = fields.flatMap((field, i) => {
      const record = parsed<EntityRecord>(texts[i])
      return record === undefined ? [] : [{ id: field.slice(PARENTS.length), record }]
    })
    return found.length > limit ? { items, next: fields.at(-1)!.slice(PARENTS.length) } : { items }
  }

  private async texts(fields: readonly string[]): Promise<(string | null)[]> {
    if (fields.length === 0) return []
    return (await this.redis.read(CONFIG_KEY, ['HMGET', CONFIG_KEY, ...fields])) as (string | null)[]
  }

  /** The script compares the texts that were compared here, so nothing can have changed in between. */
  async changeAll(steps: readonly ConfigSetStep[]): Promise<ConfigSetOutcome> {
    const fields = steps.map((step) => ('key' in step ? configField(step.key) : parentField(step.entity)))
    for (let attempt = 1; ; attempt++) {
      const before = await this.texts(fields)
      const at = steps.flatMap((step, i) => {
        const text = before[i]
        return differs(step, 'key' in step ? parsedConfig(text ?? null) : parsed<EntityRecord>(text))
          ? [i]
          : []
      })
      if (at.length > 0) return { outcome: 'conflict', at, changed: 0 }
      const args = steps.flatMap((step, i) => [fields[i]!, before[i] ?? '', textOfStep(step)])
      const keys = [CONFIG_KEY, NOTICES_KEY, CONFIG_ORDER_KEY]
      const moved = (await this.redis.run(CHANGE_ALL, keys, [
        ...[this.notices.channel, configNotice(undefined)],
        ...args,
      ])) as number[]
      if (moved.length === 0) return { outcome: 'changed' }
      if (attempt === SET_ATTEMPTS)
        return { outcome: 'conflict', at: moved.map((place) => place - 1), changed: 0 }
    }
  }

  async write(key: ConfigKey, config: LevelConfig): Promise<void> {
    await this.change(key, configField(key), storedText(config))
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

/** Empty to remove the record: no record is an empty text. */
function textOfStep(step: ConfigSetStep): string {
  const value = 'key' in step ? step.config : step.record
  if (value === undefined) return ''
  return 'key' in step ? storedText(value as LevelConfig) : JSON.stringify(value)
}

const parsedConfig = (text: string | null): LevelConfig | undefined =>
  text === null ? undefined : configFrom(text)

const parsed = <T>(text: string | null | undefined): T | undefined =>
  text === null || text === undefined ? undefined : (JSON.parse(text) as T)
