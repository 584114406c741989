import type { ConfigKey, Level, Subject } from '../../../guards/rate-limit/types.js'
import { encoded, PREFIX } from '../keys.js'

/**
 * Names of all keys of rate limits in Redis (see ../README.md). No identifier contains `%` or a brace, and `:` is
 * encoded in all parts but the last, so no name can forge another key.
 */

/** A hash: the configuration of the levels by `configField`, parents by `parentField`, and the schema version. */
export const CONFIG_KEY = `${PREFIX.limits}:config`
/**
 * The number of the last notice. In the slot of the configuration, because the script that changes it also publishes.
 */
export const NOTICES_KEY = `{${CONFIG_KEY}}:notices`
/** A sorted set of the configuration's fields, so that they can be listed by pages. */
export const CONFIG_ORDER_KEY = `{${CONFIG_KEY}}:order`
/** The secret that signs leases. */
export const SECRET_KEY = `{${CONFIG_KEY}}:secret`
export const SCHEMA_FIELD = 'schema'

/** Channels are shared by all databases, so the name contains the database. */
export const noticeChannel = (database: number): string => `${PREFIX.limits}:notices:${database}`

/** The states of all limits of a subject. */
export const rowKey = ({ entity, resource }: Subject): string =>
  `${PREFIX.limits}:${encoded(entity)}:${resource}`
/** No character of an identifier has a meaning in a pattern. */
export const subjectPattern = ({ prefix, resource = '*' }: { prefix: string; resource?: string }): string =>
  `${PREFIX.limits}:${encoded(prefix)}*:${resource}`
/** The inverse of `rowKey`; undefined for other keys. */
export function subjectOf(key: string): Subject | undefined {
  const [entity, resource, ...more] = key.slice(PREFIX.limits.length + 1).split(':')
  if (!entity || !resource || more.length > 0) return undefined
  return { entity: entity.replaceAll('%3A', ':'), resource }
}
/** A sorted set: what the sliding windows and concurrency limits of the subject have admitted. */
export const logKey = (row: string): string => `{${row}}:log`
/** State of a used lease: its adjustments, or that it was given back. */
export const leaseKey = (row: string, leaseId: string): string => `{${row}}:lease:${leaseId}`
/** A hash: usage of a resource in the hour that begins at `start`. All hours of a resource share a slot. */
export const usageKey = (resource: string, start: number): string =>
  `{${PREFIX.limits}:usage:${resource}}:${start}`

export function configField(key: ConfigKey): string {
  return key.level === 'entity'
    ? `entity:${encoded(key.entity)}:${key.resource}`
    : `${key.level}:${key.resource}`
}
/** The inverse of `configField`. */
export function keyOfField(level: Level, field: string): ConfigKey {
  const resource = field.slice(field.lastIndexOf(':') + 1)
  if (level !== 'entity') return { level, resource }
  const entity = field.slice('entity:'.length, field.length - resource.length - 1).replaceAll('%3A', ':')
  return { level, entity, resource }
}
export const parentField = (entity: string): string => `parent:${entity}`
