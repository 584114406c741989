import { logPartition } from '../allowlist/items.js'
import { flag, type Item, number, numberOf, optionalNumber, text } from '../client/attributes.js'
import type { DynamoClient } from '../client/client.js'
import { Expression, when } from '../client/expression.js'
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
    return this.remember(ref, readHead(await this.client.readItem('feed.head', this.table, headKey(ref))))
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
    const closed = { closed: flag(true), expiresAt: expiresIn(LOG_KEPT_SECONDS, this.now()) }
    this.heads.delete(nameOf(ref))
    const input = { TableName: this.table, Key: headKey(ref), ...new Expression().set(closed).update() }
    await this.client.updateItem('feed.close', input, { repeatable: true })
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
    return { Put: { TableName: this.table, Item: item, ...when((expression) => expression.absent('PK')) } }
  }

  private moveHead(ref: LogRef, head: LogHead, sequence: number, generation: number): TransactionItem {
    const expression = new Expression().set({ sequence: number(sequence) })
    const last = head.sequence === 0 ? undefined : number(head.sequence)
    expression.when(expression.equals('sequence', last))
    if (generation !== 0) expression.set({ generation: number(generation) })
    if (head.isClosed) expression.when(expression.exists('closed')).remove('closed', 'expiresAt')
    else expression.when(expression.absent('closed'))
    return { Update: { TableName: this.table, Key: headKey(ref), ...expression.update() } }
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
