import { parseStoreUrl } from './config/store-url.js'
import type { TableCreation } from './engines/dynamodb/create-tables.js'
import type { Difference, TableState } from './engines/dynamodb/table-state.js'
import { TABLE_ROLES, type TableRole } from './engines/dynamodb/tables.js'
import { invalid } from './errors.js'

export type { Difference, TableCreation, TableRole, TableState }
export { TABLE_ROLES }

/** The tables of a store, to be made and looked at. */
export interface DynamodbTables {
  /** Makes what is missing, turns on what is off, and waits until the tables can be used. */
  create(): Promise<TableCreation[]>
  describe(): Promise<TableState[]>
  /** Every way in which a table is other than this version expects. */
  verify(): Promise<Difference[]>
  close(): void
}

/** `roles`: which of the tables, when not all. */
export async function openDynamodbTables(
  store: string,
  roles: readonly TableRole[] = TABLE_ROLES,
): Promise<DynamodbTables> {
  const url = parseStoreUrl(store)
  if (url.engine !== 'dynamodb') throw invalid('store', 'must be a dynamodb:// URL for this')
  // Only now, because the SDK takes a while to load.
  const [{ DynamoClient }, { createTables }, { describeTables, differencesOf }] = await Promise.all([
    import('./engines/dynamodb/client.js'),
    import('./engines/dynamodb/create-tables.js'),
    import('./engines/dynamodb/table-state.js'),
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
