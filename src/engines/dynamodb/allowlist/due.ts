import { shardOf } from '../../../guards/allowlist/shard.js'
import { type Item, number } from '../client/attributes.js'
import type { DynamoClient } from '../client/client.js'
import { before } from '../client/key-ranges.js'
import { type Key, keyOf } from '../keys.js'
import { DUE_PARTITIONS } from './items.js'

/** An upkeep task, due from a time on. It may be recorded needlessly: its handler checks first. */
export interface DueTask {
  /** Upper-case letters and `_`. */
  kind: string
  /** Epoch milliseconds. */
  at: number
  /** Identifiers, the list first. */
  parts: string[]
}

export interface NotedTask extends DueTask {
  key: Key
}

const VERB = 'allowlist.upkeep'
const TIME_DIGITS = 15
/** DynamoDB deletes a task that was not done for this long. */
const KEPT_SECONDS = 90 * 24 * 3600

/** Upkeep task of one member that expires. */
export const EXPIRE = 'EXPIRE'
/** Upkeep task of all members of a list that have expired by then. */
export const EXPIRE_ALL = 'EXPIRE_ALL'

/** If more members than this expire, they are recorded together. */
const MAX_SINGLE_EXPIRIES = 100
const MAX_MOMENTS = 25
const HOUR_MS = 3_600_000

export class DueTasks {
  constructor(
    private readonly client: DynamoClient,
    private readonly table: string,
  ) {}

  /** The item of a task, to be written in the transaction that makes it necessary. */
  item(task: DueTask): Item {
    return { ...taskKey(task), expiresAt: number(Math.ceil(task.at / 1000) + KEPT_SECONDS) }
  }

  put(task: DueTask): { Put: { TableName: string; Item: Item } } {
    return { Put: { TableName: this.table, Item: this.item(task) } }
  }

  async note(tasks: DueTask[]): Promise<void> {
    if (tasks.length === 1) {
      await this.client.putItem(VERB, { TableName: this.table, Item: this.item(tasks[0]!) })
    } else if (tasks.length > 1) {
      const writes = tasks.map((task) => ({ table: this.table, put: this.item(task) }))
      await this.client.batchWrite(VERB, writes)
    }
  }

  /** The oldest due tasks, at most `limit` per partition. */
  async due(now: number, limit: number): Promise<{ tasks: NotedTask[]; more: boolean }> {
    const pages = await Promise.all(
      DUE_PARTITIONS.map((partition) =>
        this.client.query(VERB, {
          TableName: this.table,
          ...before(partition, timeText(now + 1)),
          Limit: limit,
        }),
      ),
    )
    return {
      tasks: pages.flatMap(({ items }) => items.map(readTask)),
      more: pages.some(({ next }) => next !== undefined),
    }
  }

  async done(tasks: NotedTask[]): Promise<void> {
    const writes = tasks.map(({ key }) => ({ table: this.table, delete: key }))
    if (writes.length > 0) await this.client.batchWrite(VERB, writes)
  }
}

/**
 * Tasks for members that expire: one each for a few, or one per expiry time for many, rounded up to hours if needed.
 */
export function expiryTasks(
  listId: string,
  members: readonly { customerId: string; expiresAt: number }[],
): DueTask[] {
  if (members.length <= MAX_SINGLE_EXPIRIES) {
    return unique(
      members.map(({ customerId, expiresAt: at }) => ({ kind: EXPIRE, at, parts: [listId, customerId] })),
    )
  }
  const moments = new Set(members.map(({ expiresAt }) => expiresAt))
  const rounded = new Set([...moments].map((at) => Math.ceil(at / HOUR_MS) * HOUR_MS))
  const chosen = moments.size <= MAX_MOMENTS ? moments : rounded
  return [...chosen].map((at) => ({ kind: EXPIRE_ALL, at, parts: [listId] }))
}

/** A batch accepts no key twice. */
function unique(tasks: DueTask[]): DueTask[] {
  return [...new Map(tasks.map((task) => [taskSort(task), task])).values()]
}

const timeText = (at: number): string => String(at).padStart(TIME_DIGITS, '0')
const taskSort = ({ at, kind, parts }: DueTask): string => [timeText(at), kind, ...parts].join('#')

function taskKey(task: DueTask): Key {
  const partition = DUE_PARTITIONS[shardOf(task.parts.join('#'), DUE_PARTITIONS.length)]!
  return keyOf(partition, taskSort(task))
}

function readTask({ PK, SK }: Item): NotedTask {
  const [time, kind, ...parts] = SK!.S!.split('#')
  return { at: Number(time), kind: kind!, parts, key: keyOf(PK!.S!, SK!.S!) }
}
