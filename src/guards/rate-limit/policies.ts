import type { Clock } from '../../core/clock.js'
import type { Deadlines } from '../../core/deadlines.js'
import { CatracaError, isCatracaError } from '../../core/errors.js'
import { type MaybePromise, whenReady } from '../../core/maybe-promise.js'
import { ConfigCache } from './config-cache.js'
import { parseLimits } from './level-config.js'
import type { LimitOptions } from './options.js'
import { type Policy, toPolicy, withAdded } from './policy.js'
import type { LimitConfigStore } from './port.js'
import { type Layer, resolve, resolveLimit } from './resolve.js'
import { compileRule } from './rule.js'
import { SubjectConfig, type SubjectLevels } from './subject-config.js'
import type {
  EntityRecord,
  FieldLevel,
  InlineLimits,
  LevelConfig,
  Limits,
  LimitsOnUnavailable,
  ResolvedConfig,
  Subject,
} from './types.js'

/** The configuration that applies to a subject. */
export interface SubjectPolicy {
  policy: Policy
  record: EntityRecord | undefined
}

/** A subject configuration with its policy resolved. */
export type ResolvedSubject = SubjectConfig & { policy: Policy }

/** Highest priority first. */
const LEVELS = [
  ['entity', 'entity'],
  ['resource', 'resource'],
  ['system', 'system'],
  ['entity:*', 'entityAll'],
  ['system:*', 'systemAll'],
] as const satisfies (readonly [FieldLevel, keyof SubjectLevels])[]

/** Maximum number of policies cached per record: callers choose the names of resources, so it must be bounded. */
const MAX_SHARED = 1000

interface Shared {
  parts: readonly (LevelConfig | undefined)[]
  policy: Policy
}

/** Resolves configurations field by field: entity over resource over system over the defaults of the constructor. */
export class Policies {
  readonly cache: ConfigCache
  /**
   * Most subjects share the configuration of their resource, so policies are cached by identity of the levels' records.
   */
  private resolved = new WeakMap<LevelConfig, Map<string, Shared>>()

  constructor(
    store: LimitConfigStore,
    clock: Clock,
    private readonly options: LimitOptions,
    deadlines: Deadlines,
    onChange: () => void,
  ) {
    const { configCacheMs, configCacheEntries, defaults } = options
    for (const limits of Object.values(defaults.limits ?? {})) parseLimits(limits)
    const within = <T>(work: Promise<T>) => deadlines.within(work)
    this.cache = new ConfigCache(store, clock, configCacheMs, configCacheEntries, within, onChange)
  }

  /** Throws LIMIT_NOT_CONFIGURED when neither a level nor the call names a limit for the resource. */
  find(
    subject: Subject,
    callLimits: Limits | undefined,
    inline: InlineLimits = 'any',
  ): MaybePromise<SubjectPolicy> {
    return whenReady(this.cache.get(subject), (config) => ({
      policy: this.policyOf(subject, config, callLimits, inline),
      record: config.record,
    }))
  }

  private policyOf(
    subject: Subject,
    config: SubjectConfig,
    callLimits: Limits | undefined,
    inline: InlineLimits,
  ): Policy {
    if (callLimits === undefined) return this.shared(subject, config)
    const policy = this.ofCall(subject, config, callLimits)
    if (inline === 'any') return policy
    const added = policy.limits.filter(({ name }) => Object.hasOwn(callLimits, name))
    return withAdded(this.shared(subject, config), added)
  }

  /**
   * Like `find`, but only from memory. Undefined if the names are not in canonical spelling or the configuration
   * is invalid; `find` reports the error.
   */
  findHere(entity: string, resource: string, now: number): ResolvedSubject | undefined {
    const config = this.cache.peek(entity, resource, now)
    if (config === undefined) return undefined
    try {
      config.policy ??= this.shared({ entity, resource }, config)
    } catch {
      return undefined
    }
    return config as ResolvedSubject
  }

  /** Used when the configuration cannot be read: the last known value, however old. */
  onUnavailableOf(subject: Subject): LimitsOnUnavailable {
    const known = this.cache.lastKnown(subject)
    const saying = LEVELS.find(([, part]) => known[part]?.onUnavailable !== undefined)
    return (saying && known[saying[1]]?.onUnavailable) ?? this.defaults().onUnavailable
  }

  /**
   * The configuration as last known, however old, for a decision without the engine. An entity that memory does not
   * know counts as one without a configuration of its own. Undefined: no known level names a limit.
   */
  findLastKnown(
    subject: Subject,
    callLimits: Limits | undefined,
    inline: InlineLimits = 'any',
  ): SubjectPolicy | undefined {
    const known = this.cache.lastKnown(subject)
    const config = new SubjectConfig(known.entity, known.entityAll, known.record, 0)
    Object.assign(config, { system: known.system, resource: known.resource, systemAll: known.systemAll })
    try {
      return { policy: this.policyOf(subject, config, callLimits, inline), record: known.record }
    } catch (error) {
      if (isCatracaError(error, 'LIMIT_NOT_CONFIGURED')) return undefined
      throw error
    }
  }

  /**
   * The parent's own limits, plus those of the call that the parent does not name. Undefined: the parent has no limits.
   */
  findParent(subject: Subject, callLimits: Limits | undefined): MaybePromise<Policy | undefined> {
    return whenReady(this.cache.get(subject), (config) => {
      const layers = this.layers(subject, config)
      const below: Layer = { level: 'call', config: callLimits && { limits: callLimits } }
      const resolved = resolve(subject, [...layers, below], this.defaults())
      return resolved === undefined ? undefined : toPolicy(resolved)
    })
  }

  /**
   * Throws INVALID_INPUT if a limit cannot be counted with the combined layers, so that the error appears at
   * configuration time and not in later calls. An incomplete limit is accepted: another level may complete it.
   */
  check(names: readonly string[], resource: string, layers: readonly Layer[]): void {
    const all = [...layers, this.defaultLayer(resource)]
    for (const name of names) {
      try {
        compileRule(`limits.${name}`, resolveLimit(name, all, resource).limit)
      } catch (error) {
        if (!isCatracaError(error, 'LIMIT_INCOMPLETE')) throw error
      }
    }
  }

  resolve(subject: { entity?: string; resource: string }, layers: readonly Layer[]): ResolvedConfig {
    const all = [...layers, this.defaultLayer(subject.resource)]
    return resolve(subject, all, this.defaults()) ?? notConfigured(subject)
  }

  private shared(subject: Subject, config: SubjectConfig): Policy {
    const parts = LEVELS.map(([, part]) => config[part])
    const anchor = parts.find((part) => part !== undefined)
    if (anchor === undefined) return this.ofCall(subject, config, {})
    let ofResource = this.resolved.get(anchor)
    if (ofResource === undefined) this.resolved.set(anchor, (ofResource = new Map()))
    const known = ofResource.get(subject.resource)
    if (known?.parts.every((part, i) => part === parts[i])) return known.policy
    const policy = this.ofCall(subject, config, {})
    if (ofResource.size >= MAX_SHARED) ofResource.clear()
    ofResource.set(subject.resource, { parts, policy })
    return policy
  }

  private ofCall(subject: Subject, config: SubjectConfig, limits: Limits): Policy {
    const call: Layer = { level: 'call', config: { limits } }
    const resolved = resolve(subject, [call, ...this.layers(subject, config)], this.defaults())
    return toPolicy(resolved ?? notConfigured(subject))
  }

  private layers({ resource }: Subject, config: SubjectConfig): Layer[] {
    const layers: Layer[] = LEVELS.map(([level, part]) => ({ level, config: config[part] }))
    return [...layers, this.defaultLayer(resource)]
  }

  private defaultLayer(resource: string): Layer {
    const { limits } = this.options.defaults
    const own = limits !== undefined && Object.hasOwn(limits, resource) ? limits[resource] : undefined
    return { level: 'defaults', config: own && { limits: own } }
  }

  private defaults() {
    const { onUnavailable = 'block', autoUpdate = false, strictVersion = false } = this.options.defaults
    return { onUnavailable, autoUpdate, strictVersion } as const
  }
}

function notConfigured({ resource }: { resource: string }): never {
  throw new CatracaError('LIMIT_NOT_CONFIGURED', `no level configures limits of ${resource}`)
}
