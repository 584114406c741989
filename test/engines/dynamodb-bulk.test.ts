import { after, describe, it } from 'node:test'
import type { AllowlistEngine } from '../../src/allowlist/port.js'
import { parseStoreUrl } from '../../src/config/store-url.js'
import type { DynamodbUrl } from '../../src/config/store-url-dynamodb.js'
import { bulkSuite } from '../../src/conformance/allowlist-bulk.js'
import { register } from '../../src/conformance/index.js'
import { createTables } from '../../src/engines/dynamodb/create-tables.js'
import { openWithoutFeed } from '../support/dynamodb-bulk.js'
import { EMULATORS, startDynamo } from '../support/dynamodb-server.js'

for (const emulator of EMULATORS) {
  const server = await startDynamo(emulator)
  register({ describe, it, after }, emulator, bulkSuite, async () => {
    const names = server.names()
    await createTables(server.client().sdk, names, ['allowlists', 'giant'])
    const url = parseStoreUrl(server.url(names)) as DynamodbUrl
    const [one, two] = [await openWithoutFeed(url), await openWithoutFeed(url)]
    return {
      one: one as unknown as AllowlistEngine,
      two: two as unknown as AllowlistEngine,
      async close() {
        one.store.close()
        two.store.close()
      },
    }
  })
}
