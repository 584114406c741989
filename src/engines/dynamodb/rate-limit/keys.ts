import type { ConfigKey, Level, Subject } from '../../../guards/rate-limit/types.js'
import { type Key, keyOf } from '../allowlist/items.js'

/**
 * Names of everything that rate limits keep in the table of guards (see README.md). No identifier holds a `#`, and every
 * part made of one stands behind a `#`, so that no id can forge the key of something else.
 */

/** What is used of all limits of a subject. */
export const subjectKey = ({ entity, resource }: Subject): Key =>
  keyOf(`SUBJECT#${entity}#${resource}`, 'STATE')

/** Of a lease that was used: what was added to it, or that it was given back. */
export const leaseKey = (id: string): Key => keyOf(`LEASE#${id}`, 'LEASE')

export function levelPartition(key: ConfigKey): string {
  switch (key.level) {
    case 'system':
      return 'SYSTEM#'
    case 'resource':
      return `RESOURCE#${key.resource}`
    case 'entity':
      return entityPartition(key.entity)
  }
}

/** Whose partition it is; undefined for one that is no level's. */
export function levelOfPartition(partition: string, resource: string): ConfigKey | undefined {
  if (partition === 'SYSTEM#') return { level: 'system', resource }
  if (partition === `RESOURCE#${resource}`) return { level: 'resource', resource }
  if (!partition.startsWith('ENTITY#')) return undefined
  return { level: 'entity', entity: partition.slice('ENTITY#'.length), resource }
}

export const entityPartition = (entity: string): string => `ENTITY#${entity}`
export const LIMIT_PREFIX = '#LIMIT#'
/** What a level says of a resource begins with this; the name of a limit follows, or nothing where it names none. */
export const limitPrefix = (resource: string): string => `${LIMIT_PREFIX}${resource}#`
export const limitKey = (level: ConfigKey, name: string): Key =>
  keyOf(levelPartition(level), limitPrefix(level.resource) + name)

/** Sorts right behind the limits of an entity, so that one query reads both. */
export const PARENT_SORT = '#LIMITS#PARENT'
export const parentKey = (entity: string): Key => keyOf(entityPartition(entity), PARENT_SORT)

const STORE_PARTITION = 'LIMITS#'
export const SECRET_KEY: Key = keyOf(STORE_PARTITION, 'SECRET')

/** Names what a level says, so that it can be listed: the layout of the source gives each entity its own partition. */
export const directoryPartition = (level: Level): string => `${STORE_PARTITION}DIRECTORY#${level}`
export const directorySort = (key: ConfigKey): string =>
  key.level === 'entity' ? `${key.entity}#${key.resource}` : key.resource
export const directoryKey = (key: ConfigKey): Key => keyOf(directoryPartition(key.level), directorySort(key))
export function readDirectorySort(level: Level, sort: string): ConfigKey {
  if (level !== 'entity') return { level, resource: sort }
  const [entity = '', resource = ''] = sort.split('#')
  return { level, entity, resource }
}

export type NoticeKind = 'config' | 'freed'
export const NOTICE_PARTITION = 'LIMITS#NOTICES'
export const HEAD_PREFIX = 'HEAD#'
/** The number of the last notice of a kind; that of configuration has the version of the schema too. */
export const headKey = (kind: NoticeKind): Key => keyOf(NOTICE_PARTITION, HEAD_PREFIX + kind)
const NUMBER_DIGITS = 16
export const noticeSort = (kind: NoticeKind, number: number): string =>
  `${kind}#${String(number).padStart(NUMBER_DIGITS, '0')}`
export const noticeKey = (kind: NoticeKind, number: number): Key =>
  keyOf(NOTICE_PARTITION, noticeSort(kind, number))

/** What was used of a resource in one hour. */
export const usagePartition = (resource: string): string => `${STORE_PARTITION}USAGE#${resource}`
const HOUR_DIGITS = 13
export const usageSort = (start: number): string =>
  `HOUR#${String(Math.max(0, start)).padStart(HOUR_DIGITS, '0')}`
export const usageKey = (resource: string, start: number): Key =>
  keyOf(usagePartition(resource), usageSort(start))
export const readUsageSort = (sort: string): number => Number(sort.slice('HOUR#'.length))
