import type { DynamoClient, ItemReader } from '../client/client.js'
import { DEFAULT_DYNAMODB } from '../defaults.js'
import type { StoreSettings } from '../options.js'
import type { Catalog } from './catalog.js'
import type { DueTasks } from './due.js'
import type { Place } from './items.js'
import type { AppliedChanges, Tokens } from './tokens.js'

/** Shared by all parts of the allowlist. */
export interface Store {
  readonly client: DynamoClient
  /** For eventually consistent reads: DAX if it is configured, else the client. */
  readonly reader: ItemReader
  readonly tables: Readonly<Record<Place['table'], string>>
  readonly catalog: Catalog
  readonly due: DueTasks
  readonly tokens: Tokens
  readonly applied: AppliedChanges
  readonly settings: StoreSettings
}

export const DEFAULT_STORE_SETTINGS: StoreSettings = {
  revalidateAfterMs: DEFAULT_DYNAMODB.revalidateAfterMs,
  staleAfterMs: DEFAULT_DYNAMODB.staleAfterMs,
  maxCachedLists: DEFAULT_DYNAMODB.maxCachedLists,
  writeTimeoutMs: DEFAULT_DYNAMODB.writeTimeoutMs,
  maxDifferences: DEFAULT_DYNAMODB.maxDifferences,
}

/**
 * After a switch of generation or layout, data that only the previous state needs stays for this long: a process with
 * an old META must still find its members complete. Includes time for a check that began just before its META became
 * stale.
 */
export const graceMs = ({ staleAfterMs }: StoreSettings): number => 2 * staleAfterMs + 10_000
