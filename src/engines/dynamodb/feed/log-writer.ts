import { logPartition } from '../allowlist/items.js'
import { type Item, number, numberOf, optionalNumber, text } from '../client/attributes.js'
import type { DynamoClient } from '../client/client.js'
import { all, Expression } from '../client/expression.js'
import type { TransactionItem } from '../client/transactions.js'
import { entryKey, expiresIn, headKey, LOG_KEPT_SECONDS, type LogRef } from './feed-items.js'

/** The end of a log. */
export interface LogHead {
  sequence: number
  /** The last generation of the list whose switch was logged. */
  generation: number
  /** The list was deleted or moved: nothing more is appended. */
  isClosed: boolean
}

export interface NewEntry {
  bytes: Uint8Array
  changeIds: readonly string[]
  /** The generation, if the entry reports a switch. */
  generation?: number
}

const MAX_HEADS = 10_000

/**
 * Appends to logs. An entry is stored together with the new end of its log, if that end is still where the writer saw
 * it. So whatever the writer read after it saw the end is not older than any entry before it.
 */
export class LogWriter {
  private readonly heads = new Map<string, LogHead>()

  constructor(
    private readonly client: DynamoClient,
    private readonly table: string,
    private readonly now: () => number,
  ) {}

  /** The last known end. That is enough to append, because the append fails if the end has moved. */
  async head(ref: LogRef): Promise<LogHead> {
    const known = this.heads.get(nameOf(ref))
    if (known !== undefined) return known
    const input = { TableName: this.table, Key: headKey(ref), ConsistentRead: true }
    return this.remember(ref, readHead(await this.client.getItem('feed.head', input)))
  }

  /**
   * Returns the number of the new entry; undefined if another writer appended first. It reopens a closed log: the
   * caller knows that its list has come back.
   */
  async append(ref: LogRef, head: LogHead, entry: NewEntry): Promise<number | undefined> {
    const sequence = head.sequence + 1
    const generation = entry.generation ?? head.generation
    const items = [this.putEntry(ref, sequence, entry), this.moveHead(ref, head, sequence, generation)]
    // Whatever the result, the known end may be outdated.
    this.heads.delete(nameOf(ref))
    const { applied } = await this.client.transactWrite('feed.append', items)
    if (!applied) return undefined
    this.remember(ref, { sequence, generation, isClosed: false })
    return sequence
  }

  /** Nothing more will be appended. Followers of this log get a gap. */
  async close(ref: LogRef): Promise<void> {
    const expression = new Expression()
    const closed = `${expression.name('closed')} = ${expression.value({ BOOL: true })}`
    const expiry = expression.value(expiresIn(LOG_KEPT_SECONDS, this.now()))
    this.heads.delete(nameOf(ref))
    await this.client.updateItem(
      'feed.close',
      {
        TableName: this.table,
        Key: headKey(ref),
        UpdateExpression: `SET ${closed}, ${expression.name('expiresAt')} = ${expiry}`,
        ...expression.parts(),
      },
      { repeatable: true },
    )
  }

  forget(ref: LogRef): void {
    this.heads.delete(nameOf(ref))
  }

  private putEntry(ref: LogRef, sequence: number, { bytes, changeIds }: NewEntry): TransactionItem {
    const item: Item = {
      ...entryKey(ref, sequence),
      bytes: { B: bytes },
      expiresAt: expiresIn(LOG_KEPT_SECONDS, this.now()),
    }
    if (changeIds.length > 0) item.changeIds = { L: changeIds.map(text) }
    const expression = new Expression()
    const ConditionExpression = expression.absent('PK')
    return { Put: { TableName: this.table, Item: item, ConditionExpression, ...expression.parts() } }
  }

  private moveHead(ref: LogRef, head: LogHead, sequence: number, generation: number): TransactionItem {
    const expression = new Expression()
    const last = head.sequence === 0 ? undefined : number(head.sequence)
    const isOpen = head.isClosed ? expression.exists('closed') : expression.absent('closed')
    const ConditionExpression = all(expression.equals('sequence', last), isOpen)
    const set = [`${expression.name('sequence')} = ${expression.value(number(sequence))}`]
    if (generation !== 0) {
      set.push(`${expression.name('generation')} = ${expression.value(number(generation))}`)
    }
    const opening = head.isClosed
      ? ` REMOVE ${expression.name('closed')}, ${expression.name('expiresAt')}`
      : ''
    const UpdateExpression = `SET ${set.join(', ')}${opening}`
    const Key = headKey(ref)
    return {
      Update: { TableName: this.table, Key, UpdateExpression, ConditionExpression, ...expression.parts() },
    }
  }

  private remember(ref: LogRef, head: LogHead): LogHead {
    this.heads.set(nameOf(ref), head)
    if (this.heads.size > MAX_HEADS) this.heads.delete(this.heads.keys().next().value!)
    return head
  }
}

export function readHead(item: Item | undefined): LogHead {
  if (item === undefined) return { sequence: 0, generation: 0, isClosed: false }
  return {
    sequence: optionalNumber(item, 'sequence') ?? 0,
    generation: item.generation === undefined ? 0 : numberOf(item, 'generation'),
    isClosed: item.closed?.BOOL === true,
  }
}

const nameOf = ({ list, layout, shard }: LogRef): string => logPartition(list, layout, shard)
