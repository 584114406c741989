import { identifier, plainName } from '../../core/identifiers.js'
import type { ConfigAddress } from '../rate-limit/api.js'
import type { RateLimits } from '../rate-limit/index.js'
import { configKeyOf } from '../rate-limit/level-config.js'
import type { LevelConfig } from '../rate-limit/types.js'
import type { AuditedAction, AuditTrail } from './index.js'
import { decorate, recording } from './recording.js'
import type { AuditTarget } from './types.js'

/** Records every change of the configuration of limits, and every reset. The use of limits is not recorded. */
export function recordLimits(limits: RateLimits, trail: AuditTrail): void {
  recordConfigs(limits, trail)
  recordEntities(limits, trail)
  decorate(limits, 'reset', (reset) => (entity, resource) => {
    const audited = (): AuditedAction => ({
      action: 'limit.reset',
      target: { kind: 'limit', id: plainName('resource', resource), entity: identifier('entity', entity) },
    })
    return recording(trail, () => reset(entity, resource), { asked: audited, done: () => [audited()] })
  })
}

function configTarget(address: ConfigAddress): AuditTarget {
  const key = configKeyOf(address)
  return {
    kind: 'limit',
    id: key.resource,
    level: key.level,
    ...(key.level === 'entity' && { entity: key.entity }),
  }
}

function recordConfigs(limits: RateLimits, trail: AuditTrail): void {
  decorate(limits, 'setConfig', (set) => (address, config) => {
    const audited = (before: LevelConfig | undefined): AuditedAction => ({
      action: 'limit.config.set',
      target: configTarget(address),
      ...(before && { before }),
      after: config,
    })
    return recording(trail, () => set(address, config), {
      look: () => limits.getConfig(address),
      asked: audited,
      done: (_, before) => [audited(before)],
    })
  })
  decorate(limits, 'deleteConfig', (remove) => (address) => {
    const audited = (before: LevelConfig | undefined): AuditedAction => ({
      action: 'limit.config.delete',
      target: configTarget(address),
      ...(before && { before }),
    })
    return recording(trail, () => remove(address), {
      look: () => limits.getConfig(address),
      asked: audited,
      done: (removed, before) => (removed ? [audited(before)] : []),
    })
  })
}

function recordEntities(limits: RateLimits, trail: AuditTrail): void {
  const target = (id: string): AuditTarget => ({ kind: 'entity', id: identifier('entity', id) })
  decorate(limits, 'setEntity', (set) => (id, record) => {
    const audited = (before: unknown): AuditedAction => ({
      action: 'entity.set',
      target: target(id),
      ...(before !== undefined && { before }),
      after: { parent: record.parent, cascade: record.cascade ?? true },
    })
    return recording(trail, () => set(id, record), {
      look: () => limits.getEntity(id),
      asked: audited,
      done: (_, before) => [audited(before)],
    })
  })
  decorate(limits, 'deleteEntity', (remove) => (id) => {
    const audited = (before: unknown): AuditedAction => ({
      action: 'entity.delete',
      target: target(id),
      ...(before !== undefined && { before }),
    })
    return recording(trail, () => remove(id), {
      look: () => limits.getEntity(id),
      asked: audited,
      done: (removed, before) => (removed ? [audited(before)] : []),
    })
  })
}
