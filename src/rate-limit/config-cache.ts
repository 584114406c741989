import type { Clock } from '../clock.js'
import { isUnavailable } from '../deadlines.js'
import { CatracaError } from '../errors.js'
import type { Policy } from './policy.js'
import type { LimitConfigStore } from './port.js'
import type { ConfigKey, EntityRecord, LevelConfig, Subject } from './types.js'
import type { Counted } from './usage.js'

/** The version of the stored schema that this program writes. */
export const SCHEMA_VERSION = 1

/** So long a store that did not answer is not asked again for what is known: each who asked would wait for it. */
const RETRY_MS = 1000

interface Entry<T> {
  value: T
  until: number
}

type Level = Entry<LevelConfig | undefined>

/**
 * What the three levels say of a subject, and the record of its entity. All that an acquire needs to know of a subject
 * is in one object: with many subjects each further one costs as much as the rest of the way to the engine.
 */
export class SubjectConfig {
  system: LevelConfig | undefined = undefined
  resource: LevelConfig | undefined = undefined
  /** What was made of the levels, by whoever resolves them. */
  policy: Policy | undefined = undefined
  /** What was counted of the subject lately, by whoever counts. */
  counted: Counted | undefined = undefined

  constructor(
    readonly entity: LevelConfig | undefined,
    readonly record: EntityRecord | undefined,
    public until: number,
  ) {}

  /** With what the levels above it say now. */
  under(system: Level, resource: Level): this {
    if (this.system === system.value && this.resource === resource.value) return this
    this.system = system.value
    this.resource = resource.value
    this.policy = undefined
    return this
  }
}

interface Known {
  system: Level | undefined
  resource: Level | undefined
  entity: SubjectConfig | undefined
}

export interface CacheFigures {
  hits: number
  misses: number
  /** Batches that were read. */
  reads: number
  entries: number
}

/**
 * Configuration in memory, level by level, also that a level says nothing. What is missing of a subject is read in one
 * batch. While the store does not answer, what was known stays in use.
 */
export class ConfigCache {
  private readonly systems = new Map<string, Level>()
  private readonly resources = new Map<string, Level>()
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
    /** Ends a wait for the store in time. */
    private readonly within: <T>(work: Promise<T>) => Promise<T> = (work) => work,
  ) {}

  /** Grows when what was answered before may no longer hold. */
  get version(): number {
    return this.generation
  }

  get(subject: Subject): SubjectConfig | Promise<SubjectConfig> {
    const found = this.peek(subject.entity, subject.resource, this.clock.now())
    if (found !== undefined) return found
    this.figures.misses++
    return this.loadOnce(subject)
  }

  /** What is known and fresh; undefined where the store would have to be asked. */
  peek(entity: string, resource: string, now: number): SubjectConfig | undefined {
    const ofEntity = this.entities.get(resource)?.get(entity)
    if (!isFresh(ofEntity, now)) return undefined
    const system = this.systems.get(resource)
    const ofResource = this.resources.get(resource)
    if (!isFresh(system, now) || !isFresh(ofResource, now)) return undefined
    this.figures.hits++
    return ofEntity.under(system, ofResource)
  }

  /** What is in memory of each level, fresh or not. */
  lastKnown(subject: Subject): Pick<SubjectConfig, 'system' | 'resource' | 'entity'> {
    const { system, resource, entity } = this.known(subject)
    return { system: system?.value, resource: resource?.value, entity: entity?.entity }
  }

  private known({ entity, resource }: Subject): Known {
    return {
      system: this.systems.get(resource),
      resource: this.resources.get(resource),
      entity: this.entities.get(resource)?.get(entity),
    }
  }

  /** What is known by now, or else was before a wait: others may have had everything dropped meanwhile. */
  private knownOr(before: Known, subject: Subject): Known {
    const now = this.known(subject)
    return {
      system: now.system ?? before.system,
      resource: now.resource ?? before.resource,
      entity: now.entity ?? before.entity,
    }
  }

  /** Callers that miss the same at once share one read. */
  private loadOnce(subject: Subject): Promise<SubjectConfig> {
    const ofResource = child(this.loading, subject.resource)
    const running = ofResource.get(subject.entity)
    if (running !== undefined) return running
    const loaded = this.load(subject).finally(() => {
      if (ofResource.get(subject.entity) !== loaded) return
      ofResource.delete(subject.entity)
      // Callers choose the names: nothing of them is left behind.
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
    const isEntityMissing = !isFresh(known.entity, now)
    if (isEntityMissing) missing.push({ level: 'entity', entity, resource })
    try {
      return await this.within(this.read(subject, missing, isEntityMissing, known))
    } catch (error) {
      if (!isUnavailable(error)) throw error
      const { system, resource: ofResource, entity: ofEntity } = this.knownOr(known, subject)
      if (system === undefined || ofResource === undefined || ofEntity === undefined) throw error
      const until = this.clock.now() + RETRY_MS
      for (const entry of [system, ofResource, ofEntity]) entry.until = Math.max(entry.until, until)
      return ofEntity.under(system, ofResource)
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
    // What was changed while this was on its way may have been read before the change.
    const until = generation === this.generation ? this.clock.now() + this.ttlMs : Number.NEGATIVE_INFINITY
    const { system, resource, entity: ofEntity } = this.knownOr(before, subject)
    let [newSystem, newResource, newEntity] = [system, resource, ofEntity]
    missing.forEach(({ level }, i) => {
      const config = configs[i]
      if (level === 'system') newSystem = { value: config, until }
      else if (level === 'resource') newResource = { value: config, until }
      else newEntity = new SubjectConfig(config, entity, until)
    })
    await this.checkSchema(schemaVersion, newSystem!.value)
    this.keep(subject, newSystem!, newResource!, newEntity!)
    return newEntity!.under(newSystem!, newResource!)
  }

  private keep(
    { entity, resource }: Subject,
    system: Level,
    ofResource: Level,
    ofEntity: SubjectConfig,
  ): void {
    // Callers choose the names: so not without end.
    if (this.entityCount + this.systems.size >= this.maxEntries) this.drop()
    this.systems.set(resource, system)
    this.resources.set(resource, ofResource)
    const entities = child(this.entities, resource)
    if (!entities.has(entity)) this.entityCount++
    entities.set(entity, ofEntity)
    this.figures.entries = this.entityCount + this.systems.size + this.resources.size
  }

  private async checkSchema(stored: number, system: LevelConfig | undefined): Promise<void> {
    refuseNewer(stored, system)
    if (stored < SCHEMA_VERSION && system?.autoUpdate === true) await this.store.migrate(SCHEMA_VERSION)
  }

  /**
   * What is known of an entity, of a resource, of both together, or everything, is asked for again before it is used;
   * it stays in use while the store does not answer.
   */
  invalidate(entity?: string, resource?: string): void {
    this.generation++
    // A read that is on its way answers from before.
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

/** Under strictVersion records of a newer program are neither used nor written. */
export function refuseNewer(stored: number, system: LevelConfig | undefined): void {
  if (stored <= SCHEMA_VERSION || system?.strictVersion !== true) return
  throw new CatracaError(
    'LIMIT_SCHEMA_NEWER',
    `the stored limits have schema ${stored}, this program knows ${SCHEMA_VERSION}, and strictVersion is set`,
  )
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
