import { after, describe, it } from 'node:test'
import { type LockScene, lockSuites, register } from '../../src/conformance/index.js'
import { NOW } from '../../src/conformance/support.js'
import { lockItemKey } from '../../src/engines/dynamodb/lock/items.js'
import { DynamodbLocks } from '../../src/engines/dynamodb/lock/store.js'
import type { Choose } from './dynamodb-conformance.js'
import type { DynamoServer } from './dynamodb-server.js'

/** Each observer has a clock of its own, which begins anywhere; callers' clocks differ by hours. */
export async function lockConformanceOn(
  server: DynamoServer,
  choose: Choose = (suite) => suite,
): Promise<void> {
  const client = server.client()
  const { guards: TableName } = await server.emptyTables(['guards'])

  async function openPair() {
    const { items } = await client.scan('test', { TableName })
    for (const { PK, SK } of items) await client.deleteItem('test', { TableName, Key: { PK: PK!, SK: SK! } })
    let passedMs = 0
    const sceneOf = (beganAt: number, skewMs: number): LockScene => ({
      locks: new DynamodbLocks(client, TableName, () => beganAt + passedMs),
      now: () => NOW + skewMs + passedMs,
      async elapse(ms) {
        passedMs += ms
      },
      async lose(name) {
        await client.deleteItem('test', { TableName, Key: lockItemKey(name) })
      },
    })
    return { one: sceneOf(0, 0), two: sceneOf(123_456, 2000), close: async () => {} }
  }

  for (const suite of lockSuites) register({ describe, it, after }, server.emulator, choose(suite), openPair)
}
