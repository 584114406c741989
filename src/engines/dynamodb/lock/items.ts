import { FENCE_KEPT_MS } from '../../../guards/lock/port.js'
import { type Item, number, optionalNumber, optionalText } from '../client/attributes.js'
import { type Key, keyOf, PARTITION } from '../keys.js'

/** Key of a lock's item in the table for guards (see ../README.md). */
export const lockItemKey = (name: string): Key => keyOf(PARTITION.lock + name, 'LOCK')

/** DynamoDB deletes it a day after its last use; epoch seconds. */
export const lockTtl = (now: number, ttlMs: number) => number(Math.ceil((now + ttlMs + FENCE_KEPT_MS) / 1000))

export interface LockItem {
  fence: number
  /** Absent: free. */
  owner: string | undefined
  version: string
  leaseMs: number
  /** By the holder's clock: for people, never for decisions. */
  expiresAt: number | undefined
}

export function readLock(item: Item): LockItem {
  return {
    fence: optionalNumber(item, 'fence') ?? 0,
    owner: optionalText(item, 'lockOwner'),
    version: optionalText(item, 'version') ?? '',
    leaseMs: optionalNumber(item, 'leaseMs') ?? 0,
    expiresAt: optionalNumber(item, 'expiresAt'),
  }
}
