import type { RedisClientType } from '@redis/client'

const BATCH = 500
const BATCHES_IN_FLIGHT = 4
/** A log entry takes about so much for each customer. */
const ENTRY_BYTES = 19

type Client = Pick<RedisClientType, 'sendCommand'>

/** The commands that storing an import comes to, pipelined, without any of the product's judgement; rows a second. */
export async function importRaw(client: Client, ids: readonly string[]): Promise<number> {
  const rows = ids.length
  const now = String(Date.now())
  const begin = performance.now()
  let next = 0
  const loop = async (): Promise<void> => {
    for (let from = next; from < rows; from = next) {
      next += BATCH
      await storeRaw(client, ids.slice(from, from + BATCH), now, 1 + from / BATCH)
    }
  }
  await Promise.all(Array.from({ length: BATCHES_IN_FLIGHT }, loop))
  return rows / ((performance.now() - begin) / 1000)
}

async function storeRaw(client: Client, ids: string[], now: string, sequence: number): Promise<void> {
  const send = (...args: (string | Buffer)[]) => client.sendCommand(args)
  await Promise.all([
    send('SMISMEMBER', 'allowlist:raw', ...ids),
    send('SADD', 'allowlist:raw', ...ids),
    send('HSET', '{allowlist:raw}:attributes', ...ids.flatMap((id) => [id, now])),
    send('HINCRBY', '{allowlist:raw}:state', 'count', String(ids.length)),
    send('XADD', '{allowlist:raw}:log', '*', 'e', Buffer.alloc(ENTRY_BYTES * ids.length, 1)),
    ...ids.map((id) => send('HSET', `customer-allowlists:${id}`, 'raw', `+1:0:${sequence}`)),
  ])
}
