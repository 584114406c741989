import type { Policy } from './policy.js'
import type { EntityRecord, LevelConfig } from './types.js'
import type { Counted } from './usage.js'

/** The cached configuration of one level. */
export interface Level {
  value: LevelConfig | undefined
  until: number
}

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

/** The configurations of a subject: for its resource, and for all resources. */
export type SubjectLevels = Pick<SubjectConfig, 'entity' | 'resource' | 'system' | 'entityAll' | 'systemAll'>
