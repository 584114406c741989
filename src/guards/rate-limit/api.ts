import type { Page, PageRequest } from '../allowlist/types.js'
import type {
  AcquireAnswer,
  AcquireRequest,
  EntityRecord,
  LeaseChange,
  Level,
  LevelConfig,
  LimitStatus,
  Limits,
  ResolvedConfig,
  ResourceUsage,
  UsageEntry,
  UsageStep,
} from './types.js'

/** Where a level keeps its configuration: on the entity level `entity`, or `identifier`, says whose it is. */
export interface ConfigAddress {
  level: Level
  entity?: string | undefined
  identifier?: string | undefined
  resource: string
}

export interface ConfigQuery extends PageRequest {
  level: Level
  /** On the entity level: only what is said of this resource. */
  resource?: string
  /** Also what other programs wrote and nobody has used yet: on DynamoDB that reads the whole table. */
  scan?: boolean
}

/** What a level says, with where it says it. */
export interface ListedConfig extends ConfigAddress {
  config: LevelConfig
}

export interface AdjustOptions {
  /** Names the adjustment, so that it counts once however often it is asked for. */
  adjustmentId?: string
}

export interface StatusOptions {
  /** As in an acquire. */
  limits?: Limits
}

export interface UsageQuery {
  step?: UsageStep
  /** ISO 8601; the last day (of hours) or month (of days) when absent. */
  from?: string
  to?: string
}

/** Rate limits as a caller sees them: the same in the library and, over HTTP, in the client of the command line. */
export interface LimitsApi {
  acquire(request: AcquireRequest): Promise<AcquireAnswer>
  adjust(leaseId: string, delta: Record<string, number>, options?: AdjustOptions): Promise<LeaseChange>
  giveBack(leaseId: string): Promise<LeaseChange>
  status(
    entity: string,
    resource: string,
    options?: StatusOptions,
  ): Promise<{ limits: Record<string, LimitStatus> }>
  reset(entity: string, resource: string): Promise<void>
  /** Of an entity, for the hours in which it was among the heaviest of the resource. */
  usage(entity: string, resource: string, query?: UsageQuery): Promise<{ items: UsageEntry[] }>
  resourceUsage(resource: string, query?: UsageQuery): Promise<ResourceUsage>

  getConfig(address: ConfigAddress): Promise<LevelConfig | undefined>
  /** In the engine's own order. */
  listConfigs(query: ConfigQuery): Promise<Page<ListedConfig>>
  setConfig(address: ConfigAddress, config: LevelConfig): Promise<void>
  /** Whether there was one. */
  deleteConfig(address: ConfigAddress): Promise<boolean>
  /** Without an entity: what holds for those of which no level says anything. */
  resolveConfig(entity: string | undefined, resource: string): Promise<ResolvedConfig>

  getEntity(id: string): Promise<EntityRecord | undefined>
  setEntity(id: string, record: { parent: string; cascade?: boolean }): Promise<void>
  deleteEntity(id: string): Promise<boolean>
}
