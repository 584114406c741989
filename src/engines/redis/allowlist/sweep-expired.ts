import { MAX_CUSTOMER_KEY_LENGTH, writeCustomerKey } from '../../../guards/allowlist/customer-key.js'
import type { Argument, Redis } from '../link/redis.js'
import { defineScript } from '../link/script.js'
import type { ChangeChannel } from './change-channel.js'
import { listOf, type RedisList } from './meta.js'
import { newMark, SHARD_KEY_TYPES, SHARD_USES, shardScriptKeys } from './shard-script.js'
import type { Shard, Shards } from './shards.js'
import { type Task, type TaskResult, together } from './tasks.js'

const EXPIRE = defineScript('allowlist-expire', { keys: SHARD_KEY_TYPES, write: true, uses: SHARD_USES })
const EXPIRED_PER_STEP = 200

interface ExpiryParts {
  redis: Redis
  shards: Shards
  wake: ChangeChannel
  maxLogBytes: number
}

/** Removes expired members. */
export function expiryTask(parts: ExpiryParts): Task {
  return async (listId, meta, now) => {
    const list = listOf(listId, meta)
    const shards = parts.shards.all(list).map(({ shard }) => expireIn(parts, list, shard, now))
    return together(await Promise.all(shards))
  }
}

async function expireIn(
  parts: ExpiryParts,
  list: RedisList,
  number: number,
  now: number,
): Promise<TaskResult> {
  const { redis, shards } = parts
  const { expiries } = shards.keys(list, number)
  const range = ['-inf', String(now), 'BYSCORE', 'LIMIT', '0', String(EXPIRED_PER_STEP)]
  const due = (await redis.read(expiries, ['ZRANGE', expiries, ...range])) as string[]
  if (due.length > 0) {
    const done = await shards.run(
      list,
      () => number,
      (shard) => redis.run(EXPIRE, shardScriptKeys(shard.keys), argsOf(parts, shard, due, now)),
    )
    if (done === undefined) return { swept: 0, more: false }
  }
  if (due.length === EXPIRED_PER_STEP) return { swept: due.length, more: true }
  const [first] = (await redis.read(expiries, ['ZRANGE', expiries, '0', '0', 'WITHSCORES'])) as [
    string,
    number,
  ][]
  return { swept: due.length, more: false, ...(first === undefined ? {} : { nextAt: Number(first[1]) }) }
}

function argsOf(
  { maxLogBytes, wake }: ExpiryParts,
  { list }: Shard,
  customers: string[],
  now: number,
): Argument[] {
  const { incarnation, generation, id } = list
  const numbers = [incarnation, generation, now, newMark(), maxLogBytes].map(String)
  const scratch = Buffer.alloc(MAX_CUSTOMER_KEY_LENGTH)
  return [
    ...numbers,
    wake.channel,
    id,
    ...customers.flatMap((customer) => [
      customer,
      Buffer.from(scratch.subarray(0, writeCustomerKey(customer, scratch, 0))),
    ]),
  ]
}
