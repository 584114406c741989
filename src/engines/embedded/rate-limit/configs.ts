import { LogFollower } from '../../../core/numbered-log.js'
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
import type { Environment } from '../lmdb/environment.js'

const CHANGES = 'limit-changes'
const SCHEMA = 'limit-schema'
const SECRET = 'lease-secret'
const POLL_MS = 250

const keyOf = (key: ConfigKey): string[] =>
  key.level === 'entity' ? [key.level, key.entity, key.resource] : [key.level, key.resource]

function keyFrom(level: Level, [, first = '', second = '']: string[]): ConfigKey {
  return level === 'entity' ? { level, entity: first, resource: second } : { level, resource: first }
}

/** Limit configurations. In the environment of the lists, and as durable. */
export class EmbeddedLimitConfigs implements LimitConfigStore {
  private readonly listeners = new Set<(changed: undefined) => void>()
  private readonly follower: LogFollower<never>

  constructor(private readonly environment: Environment) {
    const onResumed = () => {
      for (const listener of this.listeners) listener(undefined)
    }
    const log = { head: () => this.changes(), onEntry() {}, onLost() {}, onResumed }
    this.follower = new LogFollower(log, { pollMs: POLL_MS })
  }

  async read(keys: readonly ConfigKey[], entity: string | undefined): Promise<ConfigBatch> {
    this.environment.refresh()
    const { limitConfigs, entities, settings } = this.environment
    const record = entity === undefined ? undefined : entities.get(entity)
    return {
      configs: keys.map((key) => {
        const text = limitConfigs.get(keyOf(key))
        return text === undefined ? undefined : configFrom(text)
      }),
      entity: record === undefined ? undefined : (JSON.parse(record) as EntityRecord),
      schemaVersion: Number(settings.get(SCHEMA) ?? 1),
    }
  }

  async list(level: Level, { after, limit, resource }: ConfigPageRequest): Promise<ConfigPage> {
    this.environment.refresh()
    const { limitConfigs } = this.environment
    const items: ConfigPage['items'] = []
    const behind = after && keyOf(after)
    let last: ConfigKey | undefined
    let looked = 0
    for (const { key: parts, value } of limitConfigs.getRange({ start: behind ?? [level] })) {
      if (parts[0] !== level) return { items }
      if (behind?.every((part, i) => part === parts[i])) continue
      if (looked++ === limit) return { items, next: last! }
      last = keyFrom(level, parts)
      if (resource === undefined || last.resource === resource) {
        items.push({ key: last, config: configFrom(value) })
      }
    }
    return { items }
  }

  write(key: ConfigKey, config: LevelConfig): Promise<void> {
    return this.change(() => {
      this.environment.limitConfigs.putSync(keyOf(key), storedText(config))
    })
  }

  remove(key: ConfigKey): Promise<boolean> {
    return this.change(() => this.environment.limitConfigs.removeSync(keyOf(key)), true)
  }

  writeEntity(id: string, record: EntityRecord): Promise<void> {
    return this.change(() => {
      this.environment.entities.putSync(id, JSON.stringify(record))
    })
  }

  removeEntity(id: string): Promise<boolean> {
    return this.change(() => this.environment.entities.removeSync(id), true)
  }

  async listEntities(after: string | undefined, limit: number): Promise<EntityPage> {
    this.environment.refresh()
    const items: EntityPage['items'] = []
    for (const { key: id, value } of this.environment.entities.getRange(
      after === undefined ? {} : { start: after },
    )) {
      if (id === after) continue
      if (items.length === limit) return { items, next: items.at(-1)!.id }
      items.push({ id, record: JSON.parse(value) as EntityRecord })
    }
    return { items }
  }

  changeAll(steps: readonly ConfigSetStep[]): Promise<ConfigSetOutcome> {
    return this.change((): ConfigSetOutcome => {
      const at = steps.flatMap((step, i) => (differs(step, this.stored(step)) ? [i] : []))
      if (at.length > 0) return { outcome: 'conflict', at, changed: 0 }
      for (const step of steps) this.store(step)
      return { outcome: 'changed' }
    })
  }

  private stored(step: ConfigSetStep): LevelConfig | EntityRecord | undefined {
    const { limitConfigs, entities } = this.environment
    const text = 'key' in step ? limitConfigs.get(keyOf(step.key)) : entities.get(step.entity)
    if (text === undefined) return undefined
    return 'key' in step ? configFrom(text) : (JSON.parse(text) as EntityRecord)
  }

  private store(step: ConfigSetStep): void {
    const { limitConfigs, entities } = this.environment
    if ('key' in step) {
      if (step.config === undefined) limitConfigs.removeSync(keyOf(step.key))
      else limitConfigs.putSync(keyOf(step.key), storedText(step.config))
    } else if (step.record === undefined) entities.removeSync(step.entity)
    else entities.putSync(step.entity, JSON.stringify(step.record))
  }

  migrate(schemaVersion: number): Promise<void> {
    return this.change(() => {
      const { settings } = this.environment
      if (Number(settings.get(SCHEMA) ?? 1) < schemaVersion) settings.putSync(SCHEMA, String(schemaVersion))
    })
  }

  /** Reads first: in a full store the existing secret is still found, so leases can be given back. */
  async secret(candidate: string): Promise<string> {
    const { settings } = this.environment
    this.environment.refresh()
    const known = settings.get(SECRET)
    if (known !== undefined) return known
    return this.environment.write(() => {
      const kept = settings.get(SECRET)
      if (kept === undefined) settings.putSync(SECRET, candidate)
      return kept ?? candidate
    })
  }

  /** A number in the store grows with each change, and is all that is told of it. */
  watch(listener: (changed: undefined) => void): () => void {
    this.follower.start().catch(() => {})
    this.listeners.add(listener)
    return () => {
      this.listeners.delete(listener)
      if (this.listeners.size === 0) void this.follower.stop()
    }
  }

  private changes(): number {
    this.environment.refresh()
    return Number(this.environment.settings.get(CHANGES) ?? 0)
  }

  private change<T>(work: () => T, isFreeing = false): Promise<T> {
    const { settings } = this.environment
    const changing = (): T => {
      settings.putSync(CHANGES, String(Number(settings.get(CHANGES) ?? 0) + 1))
      return work()
    }
    return isFreeing ? this.environment.free(changing) : this.environment.write(changing)
  }
}
