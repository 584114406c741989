import type { ConfigKey, Level, Subject } from '../../../guards/rate-limit/types.js'
import { type Key, keyOf, PARTITION } from '../keys.js'

/**
 * Keys of all items of rate limits in the table for guards (see README.md). No identifier contains a `#`, and every
 * part made of one follows a `#`, so that no id can forge another key.
 */

export const SUBJECT_SORT = 'STATE'
/** The states of all limits of a subject. */
export const subjectKey = ({ entity, resource }: Subject): Key =>
  keyOf(`${PARTITION.subject}${entity}#${resource}`, SUBJECT_SORT)
/** Of a part, the whole subject. */
export function readSubjectPartition(partition: string): Subject | undefined {
  const [entity, resource] = partition.slice(PARTITION.subject.length).split('#')
  return entity && resource ? { entity, resource } : undefined
}

/** State of a used lease: its adjustments, or that it was given back. */
export const leaseKey = (id: string): Key => keyOf(PARTITION.lease + id, 'LEASE')

export function levelPartition(key: ConfigKey): string {
  switch (key.level) {
    case 'system':
      return PARTITION.system
    case 'resource':
      return PARTITION.resource + key.resource
    case 'entity':
      return entityPartition(key.entity)
  }
}

/** The level of a partition; undefined if it is not that of a level. */
export function levelOfPartition(partition: string, resource: string): ConfigKey | undefined {
  if (partition === PARTITION.system) return { level: 'system', resource }
  if (partition === PARTITION.resource + resource) return { level: 'resource', resource }
  const entity = entityOfPartition(partition)
  return entity === undefined ? undefined : { level: 'entity', entity, resource }
}

export const entityOfPartition = (partition: string): string | undefined =>
  partition.startsWith(PARTITION.entity) ? partition.slice(PARTITION.entity.length) : undefined

export const entityPartition = (entity: string): string => PARTITION.entity + entity
export const LIMIT_PREFIX = '#LIMIT#'
/** Prefix of a level's items for a resource. The name of a limit follows, or nothing if the level has no limits. */
export const limitPrefix = (resource: string): string => `${LIMIT_PREFIX}${resource}#`
export const limitKey = (level: ConfigKey, name: string): Key =>
  keyOf(levelPartition(level), limitPrefix(level.resource) + name)

/** Sorts right after the limits of an entity, so that one query reads both. */
export const PARENT_SORT = '#LIMITS#PARENT'
export const parentKey = (entity: string): Key => keyOf(entityPartition(entity), PARENT_SORT)

export const SECRET_KEY: Key = keyOf(PARTITION.limits, 'SECRET')

/** What the directory lists: configurations, and entities that have a parent. */
export type ListedKey = ConfigKey | { level: 'parent'; entity: string }

/** Lists the configurations: in the layout of the source design each entity has its own partition. */
export const directoryPartition = (level: ListedKey['level']): string =>
  `${PARTITION.limits}DIRECTORY#${level}`
export function directorySort(key: ListedKey): string {
  if (key.level === 'parent') return key.entity
  return key.level === 'entity' ? `${key.entity}#${key.resource}` : key.resource
}
export const directoryKey = (key: ListedKey): Key => keyOf(directoryPartition(key.level), directorySort(key))
export function readDirectorySort(level: Level, sort: string): ConfigKey {
  if (level !== 'entity') return { level, resource: sort }
  const [entity = '', resource = ''] = sort.split('#')
  return { level, entity, resource }
}

export type NoticeKind = 'config' | 'freed'
export const NOTICE_PARTITION = `${PARTITION.limits}NOTICES`
export const HEAD_PREFIX = 'HEAD#'
/** The number of the last notice of a kind; that of `config` also has the schema version. */
export const headKey = (kind: NoticeKind): Key => keyOf(NOTICE_PARTITION, HEAD_PREFIX + kind)
const NUMBER_DIGITS = 16
export const noticeKey = (kind: NoticeKind, number: number): Key =>
  keyOf(NOTICE_PARTITION, `${kind}#${String(number).padStart(NUMBER_DIGITS, '0')}`)

export const usagePartition = (resource: string): string => `${PARTITION.limits}USAGE#${resource}`
const HOUR_DIGITS = 13
export const usageSort = (start: number): string =>
  `HOUR#${String(Math.max(0, start)).padStart(HOUR_DIGITS, '0')}`
export const usageKey = (resource: string, start: number): Key =>
  keyOf(usagePartition(resource), usageSort(start))
export const readUsageSort = (sort: string): number => Number(sort.slice('HOUR#'.length))
