import { invalid } from '../../core/errors.js'
import { invalidCursor } from '../allowlist/paging.js'
import type { ConfigQuery, ListedConfig } from './api.js'
import { parseConfigKey } from './level-config.js'
import { resourceOrAll } from './levels.js'
import type { ConfigKey, Level, LevelConfig } from './types.js'

const LEVELS: readonly Level[] = ['system', 'resource', 'entity']
const MAX_CURSOR_LENGTH = 1000

export function parseConfigQuery({ level, resource }: ConfigQuery): { level: Level; resource?: string } {
  if (!LEVELS.includes(level)) throw invalid('level', `must be ${LEVELS.join(' or ')}`)
  if (resource === undefined) return { level }
  if (level !== 'entity') throw invalid('resource', 'is accepted on the entity level only')
  return { level, resource: resourceOrAll('resource', resource) }
}

export function listed({ key, config }: { key: ConfigKey; config: LevelConfig }): ListedConfig {
  const { level, resource } = key
  return key.level === 'entity'
    ? { level, identifier: key.entity, resource, config }
    : { level, resource, config }
}

/** The last record of a page, encoded so that callers treat it as opaque. */
export function makeConfigCursor(key: ConfigKey): string {
  const parts = key.level === 'entity' ? [key.resource, key.entity] : [key.resource]
  return Buffer.from(JSON.stringify(parts)).toString('base64url')
}

export function readConfigCursor(level: Level, cursor: unknown): ConfigKey {
  if (typeof cursor !== 'string' || cursor.length > MAX_CURSOR_LENGTH) throw invalidCursor()
  try {
    const [resource, entity] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[]
    return parseConfigKey(level, entity, resource)
  } catch {
    throw invalidCursor()
  }
}
