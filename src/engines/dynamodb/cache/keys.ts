import { type Key, keyOf } from '../allowlist/items.js'

/**
 * Keys of all items of caches in the table for guards (see README.md). No identifier contains a `#`, so no space and
 * no key can forge another key.
 */

/** An entry, the lease of its fill, or both. */
export const entryKey = (space: string, key: string): Key => keyOf(`CACHE#${space}#${key}`, 'ENTRY')
/** The removals of a space as a whole. */
export const marksKey = (space: string): Key => keyOf(`CACHE#${space}`, 'MARKS')

const NOTICES = 'CACHE#'
/** The number of the last notice. */
export const HEAD_KEY: Key = keyOf(NOTICES, 'HEAD')
const NUMBER_DIGITS = 16
export const noticeKey = (number: number): Key =>
  keyOf(NOTICES, `NOTICE#${String(number).padStart(NUMBER_DIGITS, '0')}`)
