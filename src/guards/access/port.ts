import type { Scope } from './scopes.js'

/** An API key as the engine stores it: only a hash, never the key. */
export interface KeyRecord {
  name: string
  scopes: Scope[]
  /** SHA-256 of the key, hexadecimal. */
  hash: string
  createdAt: number
  /** Who created it. Absent for keys of earlier versions. */
  createdBy?: string
  /** Servers refuse the key from then on. */
  expiresAt?: number
  /** The last use that a server has recorded; servers record at most one an hour. */
  usedAt?: number
}

/** What may change of a stored key, each field by itself. `expiresAt: null` removes the time. */
export interface KeyChange {
  scopes?: Scope[]
  expiresAt?: number | null
  usedAt?: number
}

/**
 * Whether a store without keys admits every caller. `never`: it never had a key, so it does. `locked`: it has had
 * keys, so it does not. `lifted`: an operator unlocked it after the last key was revoked, so it does again.
 */
export type KeyLock = 'never' | 'locked' | 'lifted'

export interface StoredKeys {
  records: KeyRecord[]
  /** Always `locked` when there are records. */
  lock: KeyLock
}

export interface KeyStore {
  /**
   * Stores the key and, in the same step, the mark that locks the store. False if a key of this name exists;
   * nothing is changed.
   */
  add(record: KeyRecord): Promise<boolean>
  /** Keys by name, and the mark, read at one moment. */
  list(): Promise<StoredKeys>
  /**
   * Removes the key and, in the same step, sets the mark, because earlier versions stored keys without it. False
   * if there is none.
   */
  remove(name: string): Promise<boolean>
  /** Changes the key of this name that has this hash. False if there is none. */
  change(name: string, hash: string, change: KeyChange): Promise<boolean>
  /** Lifts the mark. False if there are keys; nothing is changed. */
  unlock(): Promise<boolean>
}
