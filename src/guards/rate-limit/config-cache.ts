import type { Clock } from '../../core/clock.js'
import { isUnavailable } from '../../core/deadlines.js'
import { CatracaError } from '../../core/errors.js'
import { ALL_RESOURCES } from './levels.js'
import type { LimitConfigStore } from './port.js'
import { type Level, SubjectConfig, type SubjectLevels } from './subject-config.js'
import type { ConfigKey, LevelConfig, Subject } from './types.js'

/** The version of the stored schema that this program writes. */
export const SCHEMA_VERSION = 1

/**
 * After a failed read, cached values are used for this long before the store is read again. Otherwise every caller
 * would wait for it.
 */
const RETRY_MS = 1000

/** All that applies to a subject. */
interface Levels {
  system: Level
  resource: Level
  systemAll: Level
  entity: SubjectConfig
}

type Known = { [Name in keyof Levels]: Levels[Name] | undefined }

export interface CacheFigures {
  hits: number
  misses: number
  /** Batches read. */
  reads: number
  entries: number
}

/**
 * Caches configurations by level, also the absence of one. The missing parts of a subject are read in one batch.
 * While the store does not answer, cached values stay in use.
 */
export class ConfigCache {
  private readonly systems = new Map<string, Level>()
  private readonly resources = new Map<string, Level>()
  private systemAll: Level | undefined
  private readonly entities = new Map<string, Map<string, SubjectConfig>>()
  private readonly loading = new Map<string, Map<string, Promise<SubjectConfig>>>()
  private entityCount = 0
  private generation = 0
  private unwatch: (() => void) | undefined
  readonly figures: CacheFigures = { hits: 0, misses: 0, reads: 0, entries: 0 }

  constructor(
    private readonly store: Pick<LimitConfigStore, 'read' | 'migrate' | 'watch'>,
    private readonly clock: Clock,
    private readonly ttlMs: number,
    private readonly maxEntries: number,
    /** Applies a timeout to a read. */
    private readonly within: <T>(work: Promise<T>) => Promise<T> = (work) => work,
    /** Called when configurations may have changed. */
    private readonly onChange = () => {},
  ) {}

  /** Increases when earlier results may no longer be valid. */
  get version(): number {
    return this.generation
  }

  get(subject: Subject): SubjectConfig | Promise<SubjectConfig> {
    const found = this.peek(subject.entity, subject.resource, this.clock.now())
    if (found !== undefined) return found
    this.figures.misses++
    return this.loadOnce(subject)
  }

  /** The cached configuration if it is fresh. Undefined if the store must be read. */
  peek(entity: string, resource: string, now: number): SubjectConfig | undefined {
    const ofEntity = this.entities.get(resource)?.get(entity)
    if (!isFresh(ofEntity, now)) return undefined
    const system = this.systems.get(resource)
    const ofResource = this.resources.get(resource)
    const { systemAll } = this
    if (!isFresh(system, now) || !isFresh(ofResource, now) || !isFresh(systemAll, now)) return undefined
    this.figures.hits++
    return ofEntity.under(system, ofResource, systemAll)
  }

  /** The cached configuration of each level, fresh or not. */
  lastKnown(subject: Subject): SubjectLevels & Pick<SubjectConfig, 'record'> {
    const { system, resource, systemAll, entity } = this.known(subject)
    return {
      system: system?.value,
      resource: resource?.value,
      systemAll: systemAll?.value,
      entity: entity?.entity,
      entityAll: entity?.entityAll,
      record: entity?.record,
    }
  }

  private known({ entity, resource }: Subject): Known {
    return {
      system: this.systems.get(resource),
      resource: this.resources.get(resource),
      systemAll: this.systemAll,
      entity: this.entities.get(resource)?.get(entity),
    }
  }

  /** The currently cached values, or those from before the read if the cache was dropped meanwhile. */
  private knownOr(before: Known, subject: Subject): Known {
    const now = this.known(subject)
    const { system = before.system, resource = before.resource } = now
    const { systemAll = before.systemAll, entity = before.entity } = now
    return { system, resource, systemAll, entity }
  }

  /** Concurrent misses of the same subject share one read. */
  private loadOnce(subject: Subject): Promise<SubjectConfig> {
    const ofResource = child(this.loading, subject.resource)
    const running = ofResource.get(subject.entity)
    if (running !== undefined) return running
    const loaded = this.load(subject).finally(() => {
      if (ofResource.get(subject.entity) !== loaded) return
      ofResource.delete(subject.entity)
      // Callers choose the names, so empty maps must not accumulate.
      if (ofResource.size === 0) this.loading.delete(subject.resource)
    })
    ofResource.set(subject.entity, loaded)
    return loaded
  }

  private async load(subject: Subject): Promise<SubjectConfig> {
    const known = this.known(subject)
    const now = this.clock.now()
    const missing: ConfigKey[] = []
    const { entity, resource } = subject
    if (!isFresh(known.system, now)) missing.push({ level: 'system', resource })
    if (!isFresh(known.resource, now)) missing.push({ level: 'resource', resource })
    if (!isFresh(known.systemAll, now)) missing.push({ level: 'system', resource: ALL_RESOURCES })
    if (!isFresh(known.entity, now)) {
      missing.push(
        { level: 'entity', entity, resource },
        { level: 'entity', entity, resource: ALL_RESOURCES },
      )
    }
    try {
      return await this.within(this.read(subject, missing, known))
    } catch (error) {
      if (!isUnavailable(error)) throw error
      const last = this.knownOr(known, subject)
      if (!isComplete(last)) throw error
      const until = this.clock.now() + RETRY_MS
      for (const entry of [last.system, last.resource, last.systemAll, last.entity])
        entry.until = Math.max(entry.until, until)
      return last.entity.under(last.system, last.resource, last.systemAll)
    }
  }

  private async read(subject: Subject, missing: readonly ConfigKey[], before: Known): Promise<SubjectConfig> {
    // Before the first read, memory holds nothing that another process could have changed.
    this.unwatch ??= this.store.watch((key) => this.invalidateKey(key))
    const { generation } = this
    this.figures.reads++
    const withEntity = missing.some(({ level }) => level === 'entity')
    const { configs, entity, schemaVersion } = await this.store.read(
      missing,
      withEntity ? subject.entity : undefined,
    )
    // If the configuration changed during the read, this result may be older than the change: do not cache it.
    const until = generation === this.generation ? this.clock.now() + this.ttlMs : Number.NEGATIVE_INFINITY
    const found = (level: ConfigKey['level'], resource: string): Level | undefined => {
      const i = missing.findIndex((key) => key.level === level && key.resource === resource)
      return i < 0 ? undefined : { value: configs[i], until }
    }
    const { resource } = subject
    const known = this.knownOr(before, subject)
    const ofEntity = found('entity', resource)?.value
    const forAll = found('entity', ALL_RESOURCES)?.value
    const levels = {
      system: found('system', resource) ?? known.system!,
      resource: found('resource', resource) ?? known.resource!,
      systemAll: found('system', ALL_RESOURCES) ?? known.systemAll!,
      entity: withEntity ? new SubjectConfig(ofEntity, forAll, entity, until) : known.entity!,
    }
    await this.checkSchema(schemaVersion, [levels.system.value, levels.systemAll.value])
    this.keep(subject, levels)
    return levels.entity.under(levels.system, levels.resource, levels.systemAll)
  }

  private keep({ entity, resource }: Subject, levels: Levels): void {
    // Callers choose the names, so the cache must be bounded.
    if (this.entityCount + this.systems.size >= this.maxEntries) this.drop()
    this.systems.set(resource, levels.system)
    this.resources.set(resource, levels.resource)
    this.systemAll = levels.systemAll
    const entities = child(this.entities, resource)
    if (!entities.has(entity)) this.entityCount++
    entities.set(entity, levels.entity)
    this.figures.entries = this.entityCount + this.systems.size + this.resources.size
  }

  private async checkSchema(stored: number, levels: readonly (LevelConfig | undefined)[]): Promise<void> {
    refuseNewer(stored, levels)
    if (stored < SCHEMA_VERSION && isSet('autoUpdate', levels)) await this.store.migrate(SCHEMA_VERSION)
  }

  /**
   * Makes the cache read the configuration of an entity, of a resource, of both together, or everything again
   * before its next use. It stays in use while the store does not answer. The defaults for all resources are under
   * the resource `*`.
   */
  invalidate(entity?: string, resource?: string): void {
    if (resource === ALL_RESOURCES && entity !== undefined) {
      this.invalidate(entity)
      return
    }
    this.generation++
    this.onChange()
    if (entity === undefined && (resource === undefined || resource === ALL_RESOURCES)) age(this.systemAll)
    // Reads in flight may return the state before the change.
    this.loading.clear()
    for (const level of [this.systems, this.resources]) {
      for (const [name, entry] of level) {
        if (resource === undefined ? entity === undefined : name === resource) age(entry)
      }
    }
    for (const [name, entities] of this.entities) {
      if (resource !== undefined && name !== resource) continue
      if (entity === undefined) for (const entry of entities.values()) age(entry)
      else age(entities.get(entity))
    }
  }

  /** Undefined: any key may have changed. */
  invalidateKey(key: ConfigKey | undefined): void {
    this.invalidate(key?.level === 'entity' ? key.entity : undefined, key?.resource)
  }

  close(): void {
    this.unwatch?.()
  }

  private drop(): void {
    this.systems.clear()
    this.resources.clear()
    this.entities.clear()
    this.entityCount = 0
  }
}

/** With strictVersion, records written by a newer program are neither used nor overwritten. */
export function refuseNewer(stored: number, levels: readonly (LevelConfig | undefined)[]): void {
  if (stored <= SCHEMA_VERSION || !isSet('strictVersion', levels)) return
  throw new CatracaError(
    'LIMIT_SCHEMA_NEWER',
    `the stored limits have schema ${stored}, this program knows ${SCHEMA_VERSION}, and strictVersion is set`,
  )
}

/** The first level that sets the field decides. */
function isSet(field: 'autoUpdate' | 'strictVersion', levels: readonly (LevelConfig | undefined)[]): boolean {
  return levels.find((level) => level?.[field] !== undefined)?.[field] === true
}

interface Aging {
  until: number
}

function age(entry: Aging | undefined): void {
  if (entry !== undefined) entry.until = Number.NEGATIVE_INFINITY
}

const isFresh = <T extends Aging>(entry: T | undefined, now: number): entry is T =>
  entry !== undefined && now < entry.until

const isComplete = (known: Known): known is Levels =>
  Object.values(known).every((level) => level !== undefined)

function child<V>(maps: Map<string, Map<string, V>>, name: string): Map<string, V> {
  let found = maps.get(name)
  if (found === undefined) maps.set(name, (found = new Map()))
  return found
}
