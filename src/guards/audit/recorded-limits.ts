import { identifier, plainName } from '../../core/identifiers.js'
import type { ConfigAddress, ConfigChange } from '../rate-limit/api.js'
import type { RateLimits } from '../rate-limit/index.js'
import { configKeyOf } from '../rate-limit/level-config.js'
import type { EntityRecord, LevelConfig } from '../rate-limit/types.js'
import { type ChangesOf, changesInSet } from './recording.js'
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

const addressOf = ({ config: _, ifMatch: __, ...address }: ConfigChange): ConfigAddress => address

const entityTarget = (id: string): AuditTarget => ({ kind: 'entity', id: identifier('entity', id) })

type Reads =
  | 'costOfEach'
  | 'status'
  | 'subjects'
  | 'usage'
  | 'resourceUsage'
  | 'getConfig'
  | 'listConfigs'
  | 'resolveConfig'
  | 'getEntity'
  | 'listEntities'
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
  changeConfigs: (limits, changes) =>
    changesInSet(
      changes,
      (change) => limits.getConfig(addressOf(change)),
      (change, before?: LevelConfig) => ({
        action: change.config === undefined ? 'limit.config.delete' : 'limit.config.set',
        target: configTarget(addressOf(change)),
        before,
        ...(change.config && { after: change.config }),
      }),
    ),
  changeEntities: (limits, changes) =>
    changesInSet(
      changes,
      ({ id }) => limits.getEntity(id),
      ({ id, record }, before?: EntityRecord) => ({
        action: record === undefined ? 'entity.delete' : 'entity.set',
        target: entityTarget(id),
        before,
        ...(record && { after: { cascade: true, ...record } }),
      }),
    ),
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
