import type { AcquireInput } from '../../client/index.js'
import { invalid, isCatracaError } from '../../core/errors.js'
import { identifier, plainName } from '../../core/identifiers.js'
import type { ConfigAddress } from '../../guards/rate-limit/api.js'
import { configKeyOf } from '../../guards/rate-limit/level-config.js'
import { resourceOrAll } from '../../guards/rate-limit/levels.js'
import type { Denied } from '../../guards/rate-limit/types.js'
import type { Target } from '../commands/support/target.js'
import { type Calls, existed, unless } from './calls.js'

const ABSENT = 'LIMIT_CONFIG_NOT_FOUND'
/** Each level has operations of its own. */
const LEVELS = { system: 'System', resource: 'Resource', entity: 'Entity' } as const

const subjectOf = (entity: string, resource: string) => ({
  entity: identifier('entity', entity),
  resource: plainName('resource', resource),
})

function configOf(address: ConfigAddress) {
  const { level, resource, ...key } = configKeyOf(address)
  return { level: LEVELS[level], at: { resource, entity: 'entity' in key ? key.entity : '' } }
}

/** Rate limits over HTTP, with the results and errors of the library. */
export function remoteLimits(calls: Calls): Target['limits'] {
  return {
    acquire: async (request) => {
      try {
        return await calls.acquire({ body: request as AcquireInput['body'] })
      } catch (error) {
        if (!isCatracaError(error, 'QUOTA_EXCEEDED')) throw error
        const { violations, retryAfterMs, limits } = error.facts as unknown as Denied
        return { allowed: false, violations, retryAfterMs, limits }
      }
    },
    status: async (entity, resource, { limits } = {}) =>
      calls.getLimits({ ...subjectOf(entity, resource), limits: limits && JSON.stringify(limits) }),
    reset: async (entity, resource) => calls.resetLimits(subjectOf(entity, resource)),
    usage: async (entity, resource, query) => {
      const subject = { entity: identifier('entity', entity), resource: resourceOrAll('resource', resource) }
      return calls.getUsage({ ...subject, ...query })
    },
    resourceUsage: (resource, query) => calls.getResourceUsage({ resource, ...query }),

    getConfig: async (address) => {
      const { level, at } = configOf(address)
      return unless(ABSENT, calls[`get${level}Config`](at))
    },
    listConfigs: async ({ level, scan, ...query }) => {
      if (scan) throw invalid('scan', 'scans the whole table, which servers do not offer: use --store')
      return calls[`list${LEVELS[level]}Configs`](query)
    },
    setConfig: async (address, body) => {
      const { level, at } = configOf(address)
      await calls[`set${level}Config`]({ ...at, body })
    },
    deleteConfig: async (address) => {
      const { level, at } = configOf(address)
      return existed(ABSENT, calls[`delete${level}Config`](at))
    },
    resolveConfig: (entity, resource) => calls.resolveLimits({ entity, resource }),
  }
}
