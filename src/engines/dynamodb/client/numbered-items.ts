import { type Item, number, numberOf, text } from './attributes.js'
import type { DynamoClient } from './client.js'

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
    const count = {
      ...{
        TableName,
        Key: this.head,
        UpdateExpression: 'ADD #number :one',
        ReturnValues: 'ALL_NEW' as const,
      },
      ExpressionAttributeNames: { '#number': 'number' },
      ExpressionAttributeValues: { ':one': number(1) },
    }
    const { item } = await client.updateItem(`${this.verb}.tell`, count, { repeatable: true })
    const Item = { ...this.entryKey(numberOf(item!, 'number')), ...entry }
    await client.putItem(`${this.verb}.tell`, { TableName, Item })
  }

  async read(from: number, to: number): Promise<Item[]> {
    const found: Item[] = []
    const pages = this.store.client.queryPages(`${this.verb}.watch`, {
      TableName: this.store.table,
      KeyConditionExpression: 'PK = :partition AND SK BETWEEN :from AND :to',
      ExpressionAttributeValues: {
        ':partition': text(this.head.PK.S),
        ':from': this.entryKey(from).SK,
        ':to': this.entryKey(to).SK,
      },
      ConsistentRead: true,
    })
    for await (const page of pages) found.push(...page)
    return found
  }
}
