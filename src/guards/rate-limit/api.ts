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

/** Where a configuration is stored. At the entity level, `entity` or `identifier` names the entity. */
export interface ConfigAddress {
  level: Level
  entity?: string | undefined
  identifier?: string | undefined
  resource: string
}

export interface ConfigQuery extends PageRequest {
  level: Level
  /** At the entity level: only configurations of this resource. */
  resource?: string
  /**
   * Also include records that other programs wrote and this one has not used yet. On
   * DynamoDB this scans the whole table.
   */
  scan?: boolean
}

/** A configuration with its address. */
export interface ListedConfig {
  level: Level
  /** The entity, at the entity level. */
  identifier?: string
  resource: string
  config: LevelConfig
}

export interface AdjustOptions {
  /** Names the adjustment, so that retries of it count once. */
  adjustmentId?: string
}

export interface StatusOptions {
  /** As in `acquire`. */
  limits?: Limits
}

export interface UsageQuery {
  step?: UsageStep
  /** ISO 8601. Default: the last day (for hours) or month (for days). */
  from?: string
  to?: string
}

/** The rate-limit API. The library implements it, and the remote half of the CLI as far as commands need it. */
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
  /** Use by one entity, only for hours in which it was among the entities with the highest use of the resource. */
  usage(entity: string, resource: string, query?: UsageQuery): Promise<{ items: UsageEntry[] }>
  resourceUsage(resource: string, query?: UsageQuery): Promise<ResourceUsage>

  getConfig(address: ConfigAddress): Promise<LevelConfig | undefined>
  /** In the engine's own order. */
  listConfigs(query: ConfigQuery): Promise<Page<ListedConfig>>
  setConfig(address: ConfigAddress, config: LevelConfig): Promise<void>
  /** Whether it existed. */
  deleteConfig(address: ConfigAddress): Promise<boolean>
  /** Without an entity: the configuration for entities that have none of their own. */
  resolveConfig(entity: string | undefined, resource: string): Promise<ResolvedConfig>

  getEntity(id: string): Promise<EntityRecord | undefined>
  setEntity(id: string, record: { parent: string; cascade?: boolean }): Promise<void>
  deleteEntity(id: string): Promise<boolean>
}
