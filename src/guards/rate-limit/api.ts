import type { ListedPage, ListingQuery } from '../../core/listing.js'
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
export type ConfigAddress =
  | { level: 'system'; resource: string; entity?: undefined; identifier?: undefined }
  /** `identifier` is the resource itself. */
  | { level: 'resource'; resource: string; entity?: undefined; identifier?: string | undefined }
  | { level: 'entity'; resource: string; entity: string; identifier?: string | undefined }
  | { level: 'entity'; resource: string; identifier: string; entity?: undefined }

/** The same as somebody wrote it, in no checked combination. */
export interface GivenAddress {
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
export type ListedConfig = { resource: string; config: LevelConfig } & (
  | { level: 'system'; identifier?: never }
  | { level: 'resource'; identifier?: never }
  /** The entity. */
  | { level: 'entity'; identifier: string }
)

/** One configuration of a set of changes. */
export type ConfigChange = ConfigAddress & {
  /** What it becomes. Absent: it is deleted. */
  config?: LevelConfig
  /** `configVersion` of what is stored. Absent: nothing may be stored yet. */
  ifMatch?: string
}

/** One parent of a set of changes. */
export interface EntityChange {
  id: string
  /** What it becomes. Absent: it is deleted. */
  record?: { parent: string; cascade?: boolean }
  /** `configVersion` of what is stored. Absent: nothing may be stored yet. */
  ifMatch?: string
}

export interface ListedEntity extends EntityRecord {
  id: string
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

export interface SubjectQuery extends ListingQuery {
  /** Only the use of this resource. */
  resource?: string
}

/** The use of a resource by an entity. */
export interface SubjectStatus {
  entity: string
  resource: string
  /** Absent if no level configures the resource any more. */
  limits?: Record<string, LimitStatus>
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
  /** Entities with a recorded use. A page may be short, or empty, although there is more. */
  subjects(query?: SubjectQuery): Promise<ListedPage<SubjectStatus>>
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
  /** Makes all changes, or none if one is refused or was changed by somebody else (VERSION_MISMATCH). */
  changeConfigs(changes: readonly ConfigChange[]): Promise<{ changed: number }>
  /** Without an entity: the configuration for entities that have none of their own. */
  resolveConfig(entity: string | undefined, resource: string): Promise<ResolvedConfig>

  getEntity(id: string): Promise<EntityRecord | undefined>
  setEntity(id: string, record: { parent: string; cascade?: boolean }): Promise<void>
  deleteEntity(id: string): Promise<boolean>
  /** The entities with a parent, in the engine's own order. */
  listEntities(page?: PageRequest): Promise<Page<ListedEntity>>
  /** Like `changeConfigs`, for parents. */
  changeEntities(changes: readonly EntityChange[]): Promise<{ changed: number }>
}
