import { BatchWriteItemCommand, type DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb'
import type { Item } from '../../src/engines/dynamodb/client/attributes.js'

const AT_ONCE = 25
const REQUESTS_IN_FLIGHT = 4

const keyOf = (listId: string, id: string): Item => ({
  PK: { S: `ALLOWLIST#${listId}` },
  SK: { S: `CUSTOMER#${id}` },
})

/** Whether a customer is there, by the call that the source design has for it. */
export async function readRaw(
  sdk: DynamoDBClient,
  TableName: string,
  listId: string,
  id: string,
): Promise<boolean> {
  const { Item } = await sdk.send(new GetItemCommand({ TableName, Key: keyOf(listId, id) }))
  return Item !== undefined
}

/** Puts members by plain batches, as many at once as an import does; rows a second. */
export async function importRaw(sdk: DynamoDBClient, table: string, ids: readonly string[]): Promise<number> {
  const begin = performance.now()
  const addedAt = { S: new Date().toISOString() }
  let next = 0
  const loop = async (): Promise<void> => {
    for (let from = next; from < ids.length; from = next) {
      next += AT_ONCE
      let requests: { PutRequest: { Item: Item } }[] = ids.slice(from, from + AT_ONCE).map((id) => {
        const index = { GSI1PK: { S: `CUSTOMER#${id}` }, GSI1SK: { S: 'ALLOWLIST#raw' } }
        return { PutRequest: { Item: { ...keyOf('raw', id), ...index, addedAt } } }
      })
      while (requests.length > 0) {
        const command = new BatchWriteItemCommand({ RequestItems: { [table]: requests } })
        const { UnprocessedItems } = await sdk.send(command)
        requests = (UnprocessedItems?.[table] ?? []) as typeof requests
      }
    }
  }
  await Promise.all(Array.from({ length: REQUESTS_IN_FLIGHT }, loop))
  return ids.length / ((performance.now() - begin) / 1000)
}
