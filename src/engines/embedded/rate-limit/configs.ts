import { LogFollower } from '../../../core/numbered-log.js'
import type {
  ConfigBatch,
  ConfigPage,
  ConfigPageRequest,
  LimitConfigStore,
} from '../../../guards/rate-limit/port.js'
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
        return text === undefined ? undefined : (JSON.parse(text) as LevelConfig)
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
        items.push({ key: last, config: JSON.parse(value) as LevelConfig })
      }
    }
    return { items }
  }

  write(key: ConfigKey, config: LevelConfig): Promise<void> {
    return this.change(() => {
      this.environment.limitConfigs.putSync(keyOf(key), JSON.stringify(config))
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
