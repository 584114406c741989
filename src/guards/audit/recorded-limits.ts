import { identifier, plainName } from '../../core/identifiers.js'
import type { ConfigAddress } from '../rate-limit/api.js'
import type { RateLimits } from '../rate-limit/index.js'
import { configKeyOf } from '../rate-limit/level-config.js'
import type { EntityRecord, LevelConfig } from '../rate-limit/types.js'
import type { ChangesOf } from './recording.js'
import type { AuditTarget } from './types.js'

function configTarget(address: ConfigAddress): AuditTarget {
  const key = configKeyOf(address)
  return {
    kind: 'limit',
    id: key.resource,
    level: key.level,
    ...(key.level === 'entity' && { entity: key.entity }),
  }
}

const entityTarget = (id: string): AuditTarget => ({ kind: 'entity', id: identifier('entity', id) })

type Reads =
  | 'status'
  | 'usage'
  | 'resourceUsage'
  | 'getConfig'
  | 'listConfigs'
  | 'resolveConfig'
  | 'getEntity'
type Traffic = 'acquire' | 'withLease' | 'hold' | 'adjust' | 'giveBack' | 'warmUp' | 'sweep' | 'close'

/** Changes of the configuration of limits, and resets. */
export const LIMIT_CHANGES: ChangesOf<RateLimits, Reads | Traffic> = {
  setConfig: (limits, address, config) => ({
    look: () => limits.getConfig(address),
    asked: (before?: LevelConfig) => ({
      action: 'limit.config.set',
      target: configTarget(address),
      before,
      after: config,
    }),
  }),
  deleteConfig: (limits, address) => ({
    look: () => limits.getConfig(address),
    asked: (before?: LevelConfig) => ({
      action: 'limit.config.delete',
      target: configTarget(address),
      before,
    }),
    isMade: (isDeleted) => isDeleted,
  }),
  setEntity: (limits, id, { parent, cascade = true }) => ({
    look: () => limits.getEntity(id),
    asked: (before?: EntityRecord) => ({
      action: 'entity.set',
      target: entityTarget(id),
      before,
      after: { parent, cascade },
    }),
  }),
  deleteEntity: (limits, id) => ({
    look: () => limits.getEntity(id),
    asked: (before?: EntityRecord) => ({ action: 'entity.delete', target: entityTarget(id), before }),
    isMade: (isDeleted) => isDeleted,
  }),
  reset: (_, entity, resource) => ({
    asked: () => ({
      action: 'limit.reset',
      target: { kind: 'limit', id: plainName('resource', resource), entity: identifier('entity', entity) },
    }),
  }),
}
