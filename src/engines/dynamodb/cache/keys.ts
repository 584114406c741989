import { type Key, keyOf, PARTITION } from '../keys.js'

/**
 * Keys of all items of caches in the table for guards (see README.md). No identifier contains a `#`, so no space and
 * no key can forge another key.
 */

export const entryPrefix = (space: string): string => `${PARTITION.cache}${space}#`
/** An entry, the lease of its fill, or both. */
export const entryKey = (space: string, key: string): Key => keyOf(`${entryPrefix(space)}${key}`, 'ENTRY')
export const MARKS_SORT = 'MARKS'
/** The removals of a space as a whole. */
export const marksKey = (space: string): Key => keyOf(PARTITION.cache + space, MARKS_SORT)

export const NOTICE_PARTITION = PARTITION.cache
/** The number of the last notice. */
export const HEAD_KEY: Key = keyOf(NOTICE_PARTITION, 'HEAD')
const NUMBER_DIGITS = 16
export const noticeKey = (number: number): Key =>
  keyOf(NOTICE_PARTITION, `NOTICE#${String(number).padStart(NUMBER_DIGITS, '0')}`)
