/**
 * Names of everything that caches keep in Redis (see README.md). A value stands under `SPACE:KEY`, both as they are, so
 * that other programs can share it: names of spaces hold `:`, and of two spaces none may be the beginning of the other,
 * which the guard refuses. What stands beside a value has it in braces, which no identifier holds.
 */

/** The number of the last notice. */
export const NOTICES_KEY = 'cache:notices'

/** Channels do not know databases, so the name must. */
export const noticeChannel = (database: number): string => `cache:notices:${database}`

export interface EntryKeys {
  value: string
  /** Number and token of the fill that holds the lease. */
  fill: string
  /** The tags of the value, where it has any or had some. */
  tags: string
}

export function entryKeys(space: string, key: string): EntryKeys {
  const value = `${space}:${key}`
  return { value, fill: fillKey(value), tags: `{${value}}:tags` }
}

export const valueKey = (space: string, key: string): string => `${space}:${key}`
export const fillKey = (value: string): string => `{${value}}:fill`

/** No character of an identifier has a meaning in a pattern. */
export const valuePattern = (space: string): string => `${space}:*`
export const besidePattern = (space: string, what: 'fill' | 'tags'): string => `{${space}:*}:${what}`

export const TAG_PATTERN = 'cache:tag:*'

const encoded = (part: string): string => (part.includes(':') ? part.replaceAll(':', '%3A') : part)

export interface TagKeys {
  /** A sorted set: keys that may have the tag, by when they are gone. */
  members: string
  /** No fill that began before this number may store with the tag. */
  mark: string
  /** Removals that are not done yet. */
  removals: string
}

export function tagKeys(space: string, tag: string): TagKeys {
  const members = `cache:tag:${encoded(space)}:${tag}`
  return { members, mark: `{${members}}:mark`, removals: `{${members}}:removals` }
}

/** What the members were when a removal began. */
export const removedKey = ({ members }: TagKeys, removal: string): string => `{${members}}:removed:${removal}`
