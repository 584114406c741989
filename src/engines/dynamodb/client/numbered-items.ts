import { type Item, numberOf } from './attributes.js'
import type { DynamoClient } from './client.js'
import { Expression } from './expression.js'
import { between } from './key-ranges.js'

type Key = Record<'PK' | 'SK', { S: string }>

/** A numbered log in one partition: the item with the last number, and an item for each entry. */
export class NumberedItems {
  constructor(
    private readonly store: { client: DynamoClient; table: string },
    /** Prefix of the verbs under which calls are counted. */
    private readonly verb: string,
    private readonly head: Key,
    readonly entryKey: (number: number) => Key,
  ) {}

  /**
   * Counts first, then writes the entry: a process that dies in between, or counts twice, leaves a number without an
   * entry, which followers take for a missed one.
   */
  async append(entry: Item): Promise<void> {
    const { client, table: TableName } = this.store
    const next = new Expression().add({ number: 1 }).update()
    const count = { TableName, Key: this.head, ReturnValues: 'ALL_NEW' as const, ...next }
    const { item } = await client.updateItem(`${this.verb}.tell`, count, { repeatable: true })
    const Item = { ...this.entryKey(numberOf(item!, 'number')), ...entry }
    await client.putItem(`${this.verb}.tell`, { TableName, Item })
  }

  read(from: number, to: number): Promise<Item[]> {
    const range = between(this.head.PK.S, this.entryKey(from).SK.S, this.entryKey(to).SK.S)
    return this.store.client.queryAll(`${this.verb}.watch`, { TableName: this.store.table, ...range })
  }
}
