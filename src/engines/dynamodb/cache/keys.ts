import { type Key, keyOf } from '../allowlist/items.js'

/**
 * Names of everything that caches keep in the table of guards (see README.md). No identifier holds a `#`, so no space and
 * no key can forge the name of something else.
 */

/** An entry, the lease of its fill, or both. */
export const entryKey = (space: string, key: string): Key => keyOf(`CACHE#${space}#${key}`, 'ENTRY')
/** What was removed of a space as a whole. */
export const marksKey = (space: string): Key => keyOf(`CACHE#${space}`, 'MARKS')

const NOTICES = 'CACHE#'
/** The number of the last notice. */
export const HEAD_KEY: Key = keyOf(NOTICES, 'HEAD')
export const NOTICE_PARTITION = NOTICES
const NUMBER_DIGITS = 16
export const noticeSort = (number: number): string => `NOTICE#${String(number).padStart(NUMBER_DIGITS, '0')}`
export const noticeKey = (number: number): Key => keyOf(NOTICES, noticeSort(number))
