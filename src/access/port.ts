import type { Scope } from './scopes.js'

/** An API key as the engine keeps it: never the key itself. */
export interface KeyRecord {
  name: string
  scopes: Scope[]
  /** SHA-256 of the key, hexadecimal. */
  hash: string
  createdAt: number
}

export interface KeyStore {
  /** False when a key of this name exists; nothing is changed then. */
  add(record: KeyRecord): Promise<boolean>
  list(): Promise<KeyRecord[]>
  /** False when there is none. */
  remove(name: string): Promise<boolean>
}
