import type { Scope } from './scopes.js'

/** An API key as the engine keeps it: never the key itself. */
export interface KeyRecord {
  name: string
  scopes: Scope[]
  /** SHA-256 of the key, hexadecimal. */
  hash: string
  createdAt: number
}

/**
 * Whether a store without keys lets everybody in: `never` had a key, `locked` since its first one, or `lifted` by hand
 * after the last one was revoked.
 */
export type KeyLock = 'never' | 'locked' | 'lifted'

export interface StoredKeys {
  records: KeyRecord[]
  /** `locked` wherever there are records. */
  lock: KeyLock
}

export interface KeyStore {
  /** Stores the key, and in the same step the mark that locks the store. False when a key of this name exists: nothing is changed. */
  add(record: KeyRecord): Promise<boolean>
  /** Keys by name, and the mark, as they were at one moment. */
  list(): Promise<StoredKeys>
  /** Removes the key, and in the same step sets the mark: keys of earlier versions came without it. False when there is none. */
  remove(name: string): Promise<boolean>
  /** Lifts the mark. False when there are keys: nothing is changed. */
  unlock(): Promise<boolean>
}
