import { invalid } from '../../core/errors.js'
import { plainName } from '../../core/identifiers.js'
import type { ConfigKey, FieldLevel } from './types.js'

/** Stands for all resources, at the system and the entity level. Not a valid resource name. */
export const ALL_RESOURCES = '*'
/** The name that other programs use for it. As a resource name it would have no special meaning, so it is refused. */
const OTHER_SPELLING = '_default_'

export function resourceName(path: string, value: unknown): string {
  if (value === OTHER_SPELLING) {
    throw invalid(path, `must not be ${OTHER_SPELLING}: the default for all resources is "${ALL_RESOURCES}"`)
  }
  return plainName(path, value)
}

/** The name of one resource, or `*`. */
export const resourceOrAll = (path: string, value: unknown): string =>
  value === ALL_RESOURCES ? ALL_RESOURCES : resourceName(path, value)

/** The levels that apply to a subject, highest priority first. */
export function levelsOf(entity: string | undefined, resource: string): [FieldLevel, ConfigKey][] {
  const levels: [FieldLevel, ConfigKey][] = []
  if (resource !== ALL_RESOURCES) {
    if (entity !== undefined) levels.push(['entity', { level: 'entity', entity, resource }])
    levels.push(['resource', { level: 'resource', resource }], ['system', { level: 'system', resource }])
  }
  if (entity !== undefined) {
    levels.push(['entity:*', { level: 'entity', entity, resource: ALL_RESOURCES }])
  }
  levels.push(['system:*', { level: 'system', resource: ALL_RESOURCES }])
  return levels
}
