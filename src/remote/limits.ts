import type { AcquireInput } from '../client/index.js'
import { invalid, isCatracaError } from '../core/errors.js'
import { identifier, plainName } from '../core/identifiers.js'
import type { ConfigAddress, ConfigChange, LimitsApi } from '../guards/rate-limit/api.js'
import { policiesIn } from '../guards/rate-limit/headers.js'
import { configKeyOf } from '../guards/rate-limit/level-config.js'
import { resourceOrAll } from '../guards/rate-limit/levels.js'
import type { AcquireAnswer, AcquireRequest, Denied, EntityRecord } from '../guards/rate-limit/types.js'
import { type Calls, change, existed, unless } from './calls.js'

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

/** The API names an entity in one way only. */
function changeOf({ entity, identifier: id, ...given }: ConfigChange) {
  const named = entity ?? id
  return { ...given, ...(named !== undefined && { identifier: named }) }
}

async function acquire(calls: Calls, { signal, ...body }: AcquireRequest): Promise<AcquireAnswer> {
  let policies: AcquireAnswer['policies']
  const onHeaders = (headers: Headers) => {
    policies = policiesIn(headers.get('ratelimit-policy') ?? '')
  }
  try {
    const answer = await calls.acquire<AcquireAnswer>(
      { body: body as AcquireInput['body'] },
      { signal, onHeaders },
    )
    return { ...answer, policies: policies! }
  } catch (error) {
    if (!isCatracaError(error, 'QUOTA_EXCEEDED')) throw error
    const { violations, retryAfterMs, limits } = error.facts as unknown as Denied
    return { allowed: false, violations, retryAfterMs, limits, ...(policies && { policies }) }
  }
}

/** Rate limits over HTTP, with the results and errors of the library. */
export function remoteLimits(calls: Calls): LimitsApi {
  const entityOf = (id: string) => ({ id: identifier('entity', id) })
  return {
    acquire: (request) => acquire(calls, request),
    adjust: (leaseId, delta, options) => change(calls.adjustLease({ leaseId, body: { delta, ...options } })),
    giveBack: async (leaseId) => {
      await change(calls.releaseLease({ leaseId }))
      // The server does not say whether it was given back before.
      return { applied: true }
    },
    status: async (entity, resource, { limits } = {}) =>
      calls.getLimits({ ...subjectOf(entity, resource), limits: limits && JSON.stringify(limits) }),
    subjects: async (query) => calls.listSubjects(query),
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
    changeConfigs: (changes) => {
      const body = { changes: changes.map(changeOf) }
      return change(calls.changeConfigs({ body }))
    },
    resolveConfig: (entity, resource) => calls.resolveLimits({ entity, resource }),

    getEntity: async (id) => unless('ENTITY_NOT_FOUND', calls.getEntity<EntityRecord>(entityOf(id))),
    setEntity: async (id, body) => {
      await calls.setEntity({ ...entityOf(id), body })
    },
    deleteEntity: async (id) => existed('ENTITY_NOT_FOUND', calls.deleteEntity(entityOf(id))),
    listEntities: (page) => calls.listEntities(page),
    changeEntities: (changes) => change(calls.changeEntities({ body: { changes: [...changes] } })),
  }
}
