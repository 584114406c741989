import { invalid } from '../../core/errors.js'
import { plainName } from '../../core/identifiers.js'
import type { ConfigKey, FieldLevel } from './types.js'

/** Stands for all resources, on the system and the entity level. No name of a resource can be it. */
export const ALL_RESOURCES = '*'
/** What other programs call it. Accepted as a name it would be a resource like any other, and mean nothing. */
const OTHER_SPELLING = '_default_'

/** The name of one resource. */
export function resourceName(path: string, value: unknown): string {
  if (value === OTHER_SPELLING) {
    throw invalid(path, `must not be ${OTHER_SPELLING}: the default for all resources is "${ALL_RESOURCES}"`)
  }
  return plainName(path, value)
}

/** The name of one resource, or all of them. */
export const resourceOrAll = (path: string, value: unknown): string =>
  value === ALL_RESOURCES ? ALL_RESOURCES : resourceName(path, value)

/** The levels that say something of a subject, from the one that wins to the one that loses. */
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
