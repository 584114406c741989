/**
 * A list is moved from one partition to ten shards, and on to the table for giants if asked, while writers change some
 * of its members and checkers ask for others: no answer may be wrong, nobody lost or invented, and nothing left behind.
 * Arguments: --members 200000 --changing 500 --shards 10 --giantShards 0 --writers 4 --checkers 4
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { addAll, customers, newFixa, sweepAll } from '../../src/conformance/support.js'
import type { Layout } from '../../src/engines/dynamodb/allowlist/items.js'
import {
  type BulkEngine,
  holdsExactly,
  openWithoutFeed,
  plainTables,
} from '../../test/support/dynamodb-bulk.js'
import { startTraffic } from '../../test/support/dynamodb-reshard.js'
import { startDynamo } from '../../test/support/dynamodb-server.js'
import { demand, type Figures, whenStarted } from '../support/proof.js'

const SIZES = { members: 200_000, changing: 500, shards: 10, giantShards: 0, writers: 4, checkers: 4 }
const listId = 'a'
const HOUR_MS = 3_600_000
const BATCH = 10_000

export async function run(given: Partial<typeof SIZES>): Promise<Figures> {
  const sizes = { ...SIZES, ...given }
  const server = await startDynamo('dynoxide')
  try {
    const url = await plainTables(server)
    const [one, two] = [await openWithoutFeed(url), await openWithoutFeed(url)]
    await newFixa(one, listId)
    const began = performance.now()
    const ids = customers(0, sizes.members)
    for (let at = 0; at < ids.length; at += BATCH) await addAll(one, listId, ids.slice(at, at + BATCH))
    const fillSeconds = (performance.now() - began) / 1000
    return { fillSeconds, ...(await moves(one, two, ids, sizes)) }
  } finally {
    await server.stop()
  }
}

async function moves(
  one: BulkEngine,
  two: BulkEngine,
  ids: string[],
  { changing: changingCount, shards, giantShards, writers, checkers }: typeof SIZES,
): Promise<Figures> {
  const [changing, staying] = [ids.slice(0, changingCount), ids.slice(changingCount)]
  const traffic = startTraffic([one, two], listId, { staying, changing, writers, checkers })
  const layouts: Layout[] = [{ shardCount: shards, giant: false }]
  if (giantShards > 0) layouts.push({ shardCount: giantShards, giant: true })
  const figures: Figures = { repaired: 0 }
  try {
    for (const to of layouts) {
      const began = performance.now()
      const result = await one.work.mover.move(listId, to)
      demand(result.outcome === 'moved', `the move ended as ${result.outcome}`)
      figures[`moveTo${to.shardCount}Seconds`] = (performance.now() - began) / 1000
      figures.repaired! += result.state.repaired
      // Old places, with traffic going on.
      await sleep(10)
      await sweepAll(two, Date.now() + HOUR_MS)
    }
  } finally {
    await traffic.stop()
  }
  const members = [...staying, ...traffic.members]
  await holdsExactly(two, listId, members)
  const rows = await countRows(one)
  demand(rows === members.length, `${rows} rows are stored for ${members.length} members`)
  return { ...figures, writes: traffic.writes, checks: traffic.checks, wrongAnswers: 0 }
}

/** Of all members, wherever they are. */
async function countRows({ store }: BulkEngine): Promise<number> {
  let rows = 0
  for (const table of Object.values({ a: store.tables.allowlists, b: store.tables.giant })) {
    let start: Parameters<typeof store.client.scan>[1]['ExclusiveStartKey']
    do {
      const page = await store.client.scan('proof', {
        TableName: table,
        ProjectionExpression: 'SK',
        ...(start !== undefined && { ExclusiveStartKey: start }),
      })
      rows += page.items.filter(({ SK }) => SK!.S!.startsWith('CUSTOMER#')).length
      start = page.next
    } while (start !== undefined)
  }
  return rows
}

await whenStarted(import.meta.url, 'dynamodb-reshard', SIZES, run)
