import { invalid, isCatracaError } from '../../core/errors.js'
import { identifier, plainName } from '../../core/identifiers.js'
import type { Page } from '../../guards/allowlist/types.js'
import type {
  AdjustOptions,
  ConfigAddress,
  ConfigQuery,
  LimitsApi,
  ListedConfig,
  StatusOptions,
  UsageQuery,
} from '../../guards/rate-limit/api.js'
import { configKeyOf } from '../../guards/rate-limit/level-config.js'
import type {
  AcquireAnswer,
  AcquireRequest,
  Denied,
  EntityRecord,
  LeaseChange,
  LevelConfig,
  LimitStatus,
  ResolvedConfig,
  ResourceUsage,
  UsageEntry,
} from '../../guards/rate-limit/types.js'
import type { HttpTransport } from './transport.js'

const LEVEL_PATHS = {
  system: '/config/system',
  resource: '/config/resources',
  entity: '/config/entities',
} as const

/** Rate limits over HTTP, with the results and errors of the library. */
export class HttpLimits implements LimitsApi {
  constructor(private readonly http: HttpTransport) {}

  async acquire(request: AcquireRequest): Promise<AcquireAnswer> {
    const { entity, resource, consume, limits, cascade } = request
    const body = {
      ...{ entity, resource },
      ...(consume && { consume }),
      ...(limits && { limits }),
      ...(cascade !== undefined && { cascade }),
    }
    try {
      return await this.http.json('POST', '/limits/acquire', { body })
    } catch (error) {
      if (!isCatracaError(error, 'QUOTA_EXCEEDED')) throw error
      const { violations, retryAfterMs, limits } = error.facts as unknown as Denied
      return { allowed: false, violations, retryAfterMs, limits }
    }
  }

  adjust(leaseId: string, delta: Record<string, number>, options: AdjustOptions = {}): Promise<LeaseChange> {
    const body = { delta, ...options }
    return this.http.json('POST', `/leases/${encodeURIComponent(leaseId)}/adjust`, { body })
  }

  async giveBack(leaseId: string): Promise<LeaseChange> {
    await this.http.json('DELETE', `/leases/${encodeURIComponent(leaseId)}`)
    return { applied: true }
  }

  async status(
    entity: string,
    resource: string,
    { limits }: StatusOptions = {},
  ): Promise<{ limits: Record<string, LimitStatus> }> {
    const query = limits === undefined ? {} : { limits: JSON.stringify(limits) }
    return this.http.json('GET', subjectPath(entity, resource), { query })
  }

  async reset(entity: string, resource: string): Promise<void> {
    await this.http.json('DELETE', subjectPath(entity, resource))
  }

  async usage(entity: string, resource: string, query: UsageQuery = {}): Promise<{ items: UsageEntry[] }> {
    return this.http.json('GET', `${subjectPath(entity, resource)}/usage`, { query: { ...query } })
  }

  resourceUsage(resource: string, query: UsageQuery = {}): Promise<ResourceUsage> {
    return this.http.json('GET', '/limits/usage', { query: { resource, ...query } })
  }

  async getConfig(address: ConfigAddress): Promise<LevelConfig | undefined> {
    return unless('LIMIT_CONFIG_NOT_FOUND', this.http.json('GET', configPath(address)))
  }

  async listConfigs({ level, scan, ...query }: ConfigQuery): Promise<Page<ListedConfig>> {
    if (scan) throw invalid('scan', 'scans the whole table, which servers do not offer: use --store')
    return this.http.json('GET', LEVEL_PATHS[level], { query: { ...query } })
  }

  async setConfig(address: ConfigAddress, config: LevelConfig): Promise<void> {
    await this.http.json('PUT', configPath(address), { body: config })
  }

  async deleteConfig(address: ConfigAddress): Promise<boolean> {
    const deleted = this.http.json('DELETE', configPath(address)).then(() => true)
    return (await unless('LIMIT_CONFIG_NOT_FOUND', deleted)) ?? false
  }

  resolveConfig(entity: string | undefined, resource: string): Promise<ResolvedConfig> {
    const query = { resource, ...(entity !== undefined && { entity }) }
    return this.http.json('GET', '/config/resolve', { query })
  }

  async getEntity(id: string): Promise<EntityRecord | undefined> {
    const read = this.http.json<EntityRecord>('GET', entityPath(id))
    const found = await unless('ENTITY_NOT_FOUND', read)
    return found === undefined ? undefined : { parent: found.parent, cascade: found.cascade }
  }

  async setEntity(id: string, record: { parent: string; cascade?: boolean }): Promise<void> {
    await this.http.json('PUT', entityPath(id), { body: record })
  }

  async deleteEntity(id: string): Promise<boolean> {
    const deleted = this.http.json('DELETE', entityPath(id)).then(() => true)
    return (await unless('ENTITY_NOT_FOUND', deleted)) ?? false
  }
}

async function unless<T>(
  code: 'LIMIT_CONFIG_NOT_FOUND' | 'ENTITY_NOT_FOUND',
  work: Promise<T>,
): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (isCatracaError(error, code)) return undefined
    throw error
  }
}

/** Checked before they become part of a path, as for allowlists. */
function subjectPath(entity: string, resource: string): string {
  const [who, what] = [identifier('entity', entity), plainName('resource', resource)]
  return `/limits/${encodeURIComponent(who)}/${encodeURIComponent(what)}`
}

const entityPath = (id: string): string => `/entities/${encodeURIComponent(identifier('entity', id))}`

function configPath(address: ConfigAddress): string {
  const key = configKeyOf(address)
  const resource = encodeURIComponent(key.resource)
  if (key.level === 'entity') return `/config/entities/${encodeURIComponent(key.entity)}/${resource}`
  return key.level === 'system' ? `/config/system/${resource}` : `/config/resources/${resource}`
}
