import type { Clock } from '../../core/clock.js'
import { isUnavailable } from '../../core/deadlines.js'
import { CatracaError } from '../../core/errors.js'
import { ALL_RESOURCES } from './levels.js'
import type { Policy } from './policy.js'
import type { LimitConfigStore } from './port.js'
import type { ConfigKey, EntityRecord, LevelConfig, Subject } from './types.js'
import type { Counted } from './usage.js'

/** The version of the stored schema that this program writes. */
export const SCHEMA_VERSION = 1

/**
 * After a failed read, cached values are used for this long before the store is read again. Otherwise every caller
 * would wait for it.
 */
const RETRY_MS = 1000

interface Entry<T> {
  value: T
  until: number
}

type Level = Entry<LevelConfig | undefined>

/**
 * The configuration of a subject at all levels, and the record of its entity. One object holds all that an acquire
 * needs: with many subjects, each further object costs as much as the rest of the call.
 */
export class SubjectConfig {
  system: LevelConfig | undefined = undefined
  resource: LevelConfig | undefined = undefined
  /** The system level's default for all resources. */
  systemAll: LevelConfig | undefined = undefined
  /** The resolved policy, cached here by `Policies`. */
  policy: Policy | undefined = undefined
  /** The latest usage count, cached here by `UsageCounter`. */
  counted: Counted | undefined = undefined

  constructor(
    readonly entity: LevelConfig | undefined,
    /** The entity level's default for all resources. */
    readonly entityAll: LevelConfig | undefined,
    readonly record: EntityRecord | undefined,
    public until: number,
  ) {}

  /** Sets the present configuration of the levels above. */
  under({ value: system }: Level, { value: resource }: Level, { value: systemAll }: Level): this {
    if (this.system === system && this.resource === resource && this.systemAll === systemAll) return this
    this.system = system
    this.resource = resource
    this.systemAll = systemAll
    this.policy = undefined
    return this
  }
}

interface Known {
  system: Level | undefined
  resource: Level | undefined
  systemAll: Level | undefined
  entity: SubjectConfig | undefined
}

/** The configurations of a subject: for its resource, and for all resources. */
export type SubjectLevels = Pick<SubjectConfig, 'entity' | 'resource' | 'system' | 'entityAll' | 'systemAll'>

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
  readonly figures: CacheFigures = { hits: 0, misses: 0, reads: 0, entries: 0 }

  constructor(
    private readonly store: Pick<LimitConfigStore, 'read' | 'migrate'>,
    private readonly clock: Clock,
    private readonly ttlMs: number,
    private readonly maxEntries: number,
    /** Applies a timeout to a read. */
    private readonly within: <T>(work: Promise<T>) => Promise<T> = (work) => work,
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
  lastKnown(subject: Subject): SubjectLevels {
    const { system, resource, systemAll, entity } = this.known(subject)
    return {
      system: system?.value,
      resource: resource?.value,
      systemAll: systemAll?.value,
      entity: entity?.entity,
      entityAll: entity?.entityAll,
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
    return {
      system: now.system ?? before.system,
      resource: now.resource ?? before.resource,
      systemAll: now.systemAll ?? before.systemAll,
      entity: now.entity ?? before.entity,
    }
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
    const isEntityMissing = !isFresh(known.entity, now)
    if (isEntityMissing) {
      missing.push(
        { level: 'entity', entity, resource },
        { level: 'entity', entity, resource: ALL_RESOURCES },
      )
    }
    try {
      return await this.within(this.read(subject, missing, isEntityMissing, known))
    } catch (error) {
      if (!isUnavailable(error)) throw error
      const { system, resource: ofResource, systemAll, entity: ofEntity } = this.knownOr(known, subject)
      if (!system || !ofResource || !systemAll || !ofEntity) throw error
      const until = this.clock.now() + RETRY_MS
      for (const entry of [system, ofResource, systemAll, ofEntity])
        entry.until = Math.max(entry.until, until)
      return ofEntity.under(system, ofResource, systemAll)
    }
  }

  private async read(
    subject: Subject,
    missing: readonly ConfigKey[],
    withEntity: boolean,
    before: Known,
  ): Promise<SubjectConfig> {
    const { generation } = this
    this.figures.reads++
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
    const system = found('system', resource) ?? known.system!
    const ofResource = found('resource', resource) ?? known.resource!
    const systemAll = found('system', ALL_RESOURCES) ?? known.systemAll!
    const ofEntity = withEntity
      ? new SubjectConfig(
          found('entity', resource)!.value,
          found('entity', ALL_RESOURCES)!.value,
          entity,
          until,
        )
      : known.entity!
    await this.checkSchema(schemaVersion, [system.value, systemAll.value])
    this.keep(subject, system, ofResource, systemAll, ofEntity)
    return ofEntity.under(system, ofResource, systemAll)
  }

  private keep(
    { entity, resource }: Subject,
    system: Level,
    ofResource: Level,
    systemAll: Level,
    ofEntity: SubjectConfig,
  ): void {
    // Callers choose the names, so the cache must be bounded.
    if (this.entityCount + this.systems.size >= this.maxEntries) this.drop()
    this.systems.set(resource, system)
    this.resources.set(resource, ofResource)
    this.systemAll = systemAll
    const entities = child(this.entities, resource)
    if (!entities.has(entity)) this.entityCount++
    entities.set(entity, ofEntity)
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
    this.generation++
    if (resource === ALL_RESOURCES && entity !== undefined) {
      this.invalidate(entity)
      return
    }
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

function child<V>(maps: Map<string, Map<string, V>>, name: string): Map<string, V> {
  let found = maps.get(name)
  if (found === undefined) maps.set(name, (found = new Map()))
  return found
}
