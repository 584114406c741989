import type { AllowlistEngine } from '../../src/allowlist/port.js'
import type { DynamodbUrl } from '../../src/config/store-url-dynamodb.js'
import { openBulkWork, type BulkWork } from '../../src/engines/dynamodb/bulk-work.js'
import { openCore } from '../../src/engines/dynamodb/core.js'
import { type OpenedStore, openStore } from '../../src/engines/dynamodb/open-store.js'
import { DynamodbUpkeep } from '../../src/engines/dynamodb/upkeep.js'
import { CREDENTIALS } from './dynamodb-server.js'

/** All of the engine but the feed, which bulk work does not need. */
export type BulkEngine = Omit<AllowlistEngine, 'changes'> & { store: OpenedStore; work: BulkWork }

export async function openWithoutFeed(url: DynamodbUrl, options: object = {}): Promise<BulkEngine> {
  const store = await openStore(url, { credentials: CREDENTIALS, ...options })
  const core = openCore(store)
  const work = openBulkWork(store)
  const upkeep = new DynamodbUpkeep(store, { ...core.tasks, ...work.tasks })
  return { ...core, bulk: work.bulk, upkeep, store, work }
}
