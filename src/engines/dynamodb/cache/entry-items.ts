import type { CacheItem, CacheValue, StoredValue } from '../../../guards/cache/port.js'
import {
  type Attribute,
  bytes,
  type Item,
  number,
  numberOf,
  optionalNumber,
  optionalText,
  text,
} from '../client/attributes.js'
import type { Marks } from './marks.js'
import { ttlOf } from './table.js'

/** The lease of a fill, as stored in the item of its key. */
export interface Lease {
  token: string
  until: number
  /** The number of the last removal when it began. */
  version: number
}

/** Those of an entry, without those of a lease. */
export const ENTRY_ATTRIBUTES = ['value', 'goneAt', 'storedAt', 'stamp', 'version', 'tags'] as const

export const LEASE_ATTRIBUTES = ['fill', 'fillUntil', 'fillVersion'] as const

/** The attributes of an entry without its version. `stamp`: unique for every stored entry. */
export function entryAttributes(item: CacheItem, stamp: string, now: number): Item {
  const goneAt = now + item.lifeMs
  return {
    value: valueAttribute(item.value),
    goneAt: number(goneAt),
    storedAt: number(now),
    stamp: text(stamp),
    ttl: number(ttlOf(goneAt)),
    tags: { L: item.tags.map(text) },
  }
}

const valueAttribute = (value: CacheValue): Attribute =>
  typeof value === 'string' ? text(value) : bytes(value)

/** The valid entry of an item; undefined if it expired, was removed, or is only a lease. */
export function readEntry(item: Item | undefined, marks: Marks, now: number): StoredValue | undefined {
  if (item?.stamp === undefined || item.value === undefined) return undefined
  const goneAt = numberOf(item, 'goneAt')
  if (goneAt <= now || numberOf(item, 'version') < marks.least(tagsOf(item))) return undefined
  const storedAt = optionalNumber(item, 'storedAt') ?? now
  const value = item.value.S ?? item.value.B
  return value === undefined ? undefined : { value, leftMs: goneAt - now, ageMs: Math.max(0, now - storedAt) }
}

export function readLease(item: Item | undefined): Lease | undefined {
  const token = item === undefined ? undefined : optionalText(item, 'fill')
  if (token === undefined) return undefined
  return { token, until: numberOf(item!, 'fillUntil'), version: numberOf(item!, 'fillVersion') }
}

const tagsOf = (item: Item): string[] => (item.tags?.L ?? []).map((tag) => tag.S ?? '')
