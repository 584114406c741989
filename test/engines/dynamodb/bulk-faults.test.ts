import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { addAll, customers, NOW, newFixa, replaceBy, sweepAll } from '../../../src/conformance/support.js'
import {
  type BulkEngine,
  holdsExactly,
  importIds,
  openWithoutFeed,
  plainTables,
} from '../../support/dynamodb-bulk.js'
import { type Fault, startFaultProxy } from '../../support/dynamodb-faults.js'
import { startDynamo } from '../../support/dynamodb-server.js'

const server = await startDynamo('dynoxide')
const proxy = await startFaultProxy(server.endpoint)
const listId = 'a'
const HOUR_MS = 3_600_000

/** One engine past the proxy, and one through it. */
async function opened(): Promise<{ straight: BulkEngine; engine: BulkEngine }> {
  const url = await plainTables(server)
  const straight = await openWithoutFeed(url)
  const engine = await openWithoutFeed({ ...url, endpoint: proxy.endpoint }, undefined, {
    requestTimeoutMs: 1000,
  })
  await newFixa(straight, listId)
  return { straight, engine }
}

const TROUBLE: [operation: string, fault: Fault][] = [
  ['BatchExecuteStatement', { kind: 'throttled' }],
  ['BatchExecuteStatement', { kind: 'statements', processed: 10, code: 'ThrottlingError' }],
  ['BatchExecuteStatement', { kind: 'statements', processed: 0, code: 'ProvisionedThroughputExceeded' }],
  ['BatchExecuteStatement', { kind: 'server-error' }],
  ['BatchExecuteStatement', { kind: 'reset', when: 'after' }],
  ['BatchExecuteStatement', { kind: 'reset', when: 'before' }],
  ['TransactWriteItems', { kind: 'cancelled', codes: ['TransactionConflict', 'None'] }],
  ['TransactWriteItems', { kind: 'reset', when: 'after' }],
  ['UpdateItem', { kind: 'reset', when: 'after' }],
  ['PutItem', { kind: 'reset', when: 'after' }],
  ['BatchGetItem', { kind: 'unprocessed', processed: 3 }],
]

const nameOf = ([operation, fault]: (typeof TROUBLE)[number]): string =>
  `${operation} ${JSON.stringify(fault)}`

describe('with trouble on the way to DynamoDB', () => {
  for (const [operation, fault] of TROUBLE) {
    it(`an import is exact: ${nameOf([operation, fault])}`, async () => {
      const { straight, engine } = await opened()
      await addAll(straight, listId, customers(0, 20))
      proxy.inject(fault, { operation, times: 2 })
      const result = await importIds(engine, listId, customers(0, 200), { mode: 'add', importId: 'i' })
      proxy.clear()
      assert.deepEqual([result.added, result.unchanged], [180, 20])
      await holdsExactly(straight, listId, customers(0, 200))
    })
  }

  it('a replace and a move are exact, with something of everything', async () => {
    const { straight, engine } = await opened()
    await addAll(straight, listId, customers(0, 120))
    for (const [operation, fault] of TROUBLE) proxy.inject(fault, { operation, times: 1 })
    await replaceBy(engine, listId, customers(60, 180))
    await holdsExactly(straight, listId, customers(60, 180))
    for (const [operation, fault] of TROUBLE) proxy.inject(fault, { operation, times: 1 })
    proxy.inject({ kind: 'unprocessed', processed: 5 }, { operation: 'BatchWriteItem', times: 3 })
    const moved = await engine.work.mover.move(listId, { shardCount: 4, giant: true }, { now: () => NOW })
    assert.equal(moved.outcome, 'moved')
    await sweepAll(engine, NOW + HOUR_MS)
    proxy.clear()
    await holdsExactly(straight, listId, customers(60, 180))
    assert.equal(await straight.work.mover.progress(listId), undefined, 'the old places are cleared')
  })
})
