import { encoded, PREFIX } from '../keys.js'

/**
 * Names of all keys of caches in Redis (see README.md). A value is at `SPACE:KEY`, both unchanged, so that other
 * programs can share it. Space names may contain `:`, and the guard refuses a space that is a prefix of another. Keys
 * beside a value contain the value's key in braces, which no identifier contains.
 */

/** The number of the last notice. */
export const NOTICES_KEY = `${PREFIX.cache}:notices`

/** Channels are shared by all databases, so the name contains the database. */
export const noticeChannel = (database: number): string => `${NOTICES_KEY}:${database}`

export interface EntryKeys {
  value: string
  /** Number and token of the fill that holds the lease. */
  fill: string
  /** The tags of the value, if it has or had any. */
  tags: string
}

export function entryKeys(space: string, key: string): EntryKeys {
  const value = `${space}:${key}`
  return { value, fill: fillKey(value), tags: `{${value}}:tags` }
}

export const valueKey = (space: string, key: string): string => `${space}:${key}`
export const fillKey = (value: string): string => `{${value}}:fill`

/** No character of an identifier has a special meaning in a pattern. */
export const valuePattern = (space: string): string => `${space}:*`
export const besidePattern = (space: string, what: 'fill' | 'tags'): string => `{${space}:*}:${what}`

export const TAG_PATTERN = `${PREFIX.cache}:tag:*`

export interface TagKeys {
  /** A sorted set: keys that may have the tag, by their expiry. */
  members: string
  /** A fill that began before this number may not store a value with the tag. */
  mark: string
  /** Removals that are not finished. */
  removals: string
}

export function tagKeys(space: string, tag: string): TagKeys {
  const members = `${PREFIX.cache}:tag:${encoded(space)}:${tag}`
  return { members, mark: `{${members}}:mark`, removals: `{${members}}:removals` }
}

/** The members of the tag when a removal began. */
export const removedKey = ({ members }: TagKeys, removal: string): string => `{${members}}:removed:${removal}`
