import type { ConfigKey, Level, Subject } from '../../../guards/rate-limit/types.js'

/**
 * Names of everything that rate limits keep in Redis (see ../README.md). No identifier holds `%` or a brace, and `:`
 * is encoded in all but the last part, so no name can forge the key of something else.
 */

/** A hash: what the levels say, by `configField`, parents by `parentField`, and the version of the schema. */
export const CONFIG_KEY = 'ratelimit:config'
/** The number of the last notice; in the slot of the configuration, which is told of by the script that changes it. */
export const NOTICES_KEY = `{${CONFIG_KEY}}:notices`
/** A sorted set: the fields of the configuration in order, so that they can be listed by pages. */
export const CONFIG_ORDER_KEY = `{${CONFIG_KEY}}:order`
/** Seals leases. */
export const SECRET_KEY = `{${CONFIG_KEY}}:secret`
export const SCHEMA_FIELD = 'schema'

/** Channels do not know databases, so the name must. */
export const noticeChannel = (database: number): string => `ratelimit:notices:${database}`

const encoded = (part: string): string => (part.includes(':') ? part.replaceAll(':', '%3A') : part)

/** What is used of all limits of a subject. */
export const rowKey = ({ entity, resource }: Subject): string => `ratelimit:${encoded(entity)}:${resource}`
/** A sorted set: what its sliding windows and concurrency limits have admitted. */
export const logKey = (row: string): string => `{${row}}:log`
/** Of a lease that was used: what was added to it, or that it was given back. */
export const leaseKey = (row: string, leaseId: string): string => `{${row}}:lease:${leaseId}`
/** A hash: what was used of a resource in the hour that begins then. All hours of a resource share a slot. */
export const usageKey = (resource: string, start: number): string => `{ratelimit:usage:${resource}}:${start}`

export function configField(key: ConfigKey): string {
  return key.level === 'entity'
    ? `entity:${encoded(key.entity)}:${key.resource}`
    : `${key.level}:${key.resource}`
}
/** The key of a field that `configField` has made; its level begins it. */
export function keyOfField(level: Level, field: string): ConfigKey {
  const resource = field.slice(field.lastIndexOf(':') + 1)
  if (level !== 'entity') return { level, resource }
  const entity = field.slice('entity:'.length, field.length - resource.length - 1).replaceAll('%3A', ':')
  return { level, entity, resource }
}
export const parentField = (entity: string): string => `parent:${entity}`
