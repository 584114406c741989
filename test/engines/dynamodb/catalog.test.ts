import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CatracaError, isCatracaError } from '../../../src/core/errors.js'
import { Catalog } from '../../../src/engines/dynamodb/allowlist/catalog.js'
import type { DynamoClient } from '../../../src/engines/dynamodb/client/client.js'

describe('the cached lists', () => {
  it('leave no failed read behind that nobody waits for: it would end the process', async () => {
    const down = async () => {
      throw new CatracaError('ENGINE_UNAVAILABLE', 'down')
    }
    const settings = { revalidateAfterMs: 1, staleAfterMs: 1, maxCachedLists: 10 } as ConstructorParameters<
      typeof Catalog
    >[2]
    const catalog = new Catalog({ getItem: down } as unknown as DynamoClient, 'table', settings)
    const since = { incarnation: 1, generation: 1, layout: 1 }
    // The test runner fails a test that leaves an unhandled rejection.
    await assert.rejects(
      async () => catalog.knownSince('a', since),
      (error) => isCatracaError(error, 'ENGINE_UNAVAILABLE'),
    )
    await new Promise((resolve) => setImmediate(resolve))
  })
})
