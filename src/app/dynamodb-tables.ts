import { invalid } from '../core/errors.js'
import { type Fields, KnownFields } from '../core/fields.js'
import {
  type AdoptionProgress,
  type ScanOptions,
  UNSERVED,
  type UnservedRow,
} from '../engines/dynamodb/allowlist/scan-facts.js'
import type { Difference, TableCreation, TableState } from '../engines/dynamodb/tables/table-facts.js'
import { TABLE_ROLES, type TableRole } from '../engines/dynamodb/tables/tables.js'
import type { DynamodbUrl } from '../engines/dynamodb/url.js'
import { storeUrlOf } from '../engines/registry.js'

export type {
  AdoptionProgress,
  Difference,
  ScanOptions as LookOptions,
  TableCreation,
  TableRole,
  TableState,
  UnservedRow,
}
export { TABLE_ROLES, UNSERVED }

const LOOK_FIELDS: Fields<ScanOptions> = { onProgress: true, onUnserved: true }
const KNOWN_OF_LOOK = new KnownFields(LOOK_FIELDS)

/** Creates and inspects the tables of a store. */
export interface DynamodbTables {
  /** Creates missing tables, enables missing features, and waits until the tables can be used. */
  create(): Promise<TableCreation[]>
  describe(): Promise<TableState[]>
  /** All differences between the tables and what this version expects. */
  verify(): Promise<Difference[]>
  close(): void
}

/** `roles`: which tables. Default: all. */
export async function openDynamodbTables(
  store: string,
  roles: readonly TableRole[] = TABLE_ROLES,
): Promise<DynamodbTables> {
  const url = dynamodbUrl(store)
  const unknown = roles.find((role) => !TABLE_ROLES.includes(role))
  if (unknown !== undefined) throw invalid('roles', `has ${unknown}: there is ${TABLE_ROLES.join(', ')}`)
  // Imported only here, because the SDK is slow to load.
  const [{ DynamoClient }, { createTables }, { describeTables, differencesOf }] = await Promise.all([
    import('../engines/dynamodb/client/client.js'),
    import('../engines/dynamodb/tables/create-tables.js'),
    import('../engines/dynamodb/tables/table-state.js'),
  ])
  const { region, endpoint, tables } = url
  const client = new DynamoClient({ region, ...(endpoint !== undefined && { endpoint }) })
  const describe = (): Promise<TableState[]> => describeTables(client.sdk, tables, roles)
  return {
    create: () => createTables(client.sdk, tables, roles),
    describe,
    verify: async () => (await describe()).flatMap(differencesOf),
    close: () => client.close(),
  }
}

/**
 * Scans the whole table for lists that other programs made, so that they appear in pages like any other, and for
 * rows that no check will find. It reads, and costs, the whole table.
 */
export async function adoptLists(store: string, options: ScanOptions = {}): Promise<AdoptionProgress> {
  KNOWN_OF_LOOK.check(options)
  const url = dynamodbUrl(store)
  const { openDynamodb } = await import('../engines/dynamodb/index.js')
  const engine = await openDynamodb(url, { probeIntervalMs: 0 })
  try {
    return await engine.adopt(options)
  } finally {
    await engine.close()
  }
}

export function dynamodbUrl(store: string): DynamodbUrl {
  const url = storeUrlOf('dynamodb', store)
  if (url === undefined) throw invalid('store', 'must be a dynamodb:// URL for this')
  return url
}
