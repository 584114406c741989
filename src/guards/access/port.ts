import type { Scope } from './scopes.js'

/** An API key as the engine stores it: only a hash, never the key. */
export interface KeyRecord {
  name: string
  scopes: Scope[]
  /** SHA-256 of the key, hexadecimal. */
  hash: string
  createdAt: number
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
  /** Lifts the mark. False if there are keys; nothing is changed. */
  unlock(): Promise<boolean>
}
