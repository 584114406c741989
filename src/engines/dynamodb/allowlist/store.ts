import type { DynamoClient, ItemReader } from '../client/client.js'
import type { Catalog } from './catalog.js'
import type { DueTasks } from './due.js'
import type { Place } from './items.js'
import type { AppliedChanges, Tokens } from './tokens.js'

/** What every part of the engine works with. */
export interface Store {
  readonly client: DynamoClient
  /** For reads that may be a little old: DAX, where it is set, else the client. */
  readonly reader: ItemReader
  readonly tables: Readonly<Record<Place['table'], string>>
  readonly catalog: Catalog
  readonly due: DueTasks
  readonly tokens: Tokens
  readonly applied: AppliedChanges
  readonly settings: StoreSettings
}

export interface StoreSettings {
  /** What a check knows of a list is read again in the background when it is used and older than this. */
  revalidateAfterMs: number
  /** Older than this it must be read again before it answers. */
  staleAfterMs: number
  maxCachedLists: number
  /** A write that others keep getting in the way of is given up after this. */
  writeTimeoutMs: number
  /** A replace that changes more customers than this is told as a reset, not one by one. */
  maxDifferences: number
}

export const DEFAULT_STORE_SETTINGS: StoreSettings = {
  revalidateAfterMs: 1000,
  staleAfterMs: 3000,
  maxCachedLists: 10_000,
  writeTimeoutMs: 10_000,
  maxDifferences: 10_000,
}

/**
 * After a switch of generation or layout, what only the state before it needs stays for so long: whoever knows a list
 * by an old META must find its members whole. With room for a check that began just before its META became stale.
 */
export const graceMs = ({ staleAfterMs }: StoreSettings): number => 2 * staleAfterMs + 10_000
