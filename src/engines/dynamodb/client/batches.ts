import type { WriteRequest } from '@aws-sdk/client-dynamodb'
import { chunksOf } from '../../../core/chunks.js'
import type { Item } from './attributes.js'
import type { Call, Calls } from './calls.js'
import { traceWrite } from './connection.js'
import type { Deadline } from './deadline.js'
import { isTransient, type SdkFailure } from './failures.js'
import { BatchGetItemCommand, BatchWriteItemCommand, type DynamoDBClient } from './sdk.js'
import { wireBytes } from './sizes.js'

export const MAX_BATCH_WRITES = 25
export const MAX_BATCH_KEYS = 100
const MAX_BATCH_BYTES = 16 * 1024 * 1024

export type BatchWrite = { table: string } & ({ put: Item } | { delete: Item })

export interface BatchGetInput {
  table: string
  keys: Item[]
  consistent?: boolean
  /** Only these attributes of each item. */
  attributes?: string[]
}

/** Puts and deletes can be repeated without harm, so unprocessed items are sent again. */
export function batchWrite(
  client: DynamoDBClient,
  calls: Calls,
  call: Call,
  writes: BatchWrite[],
): Promise<void> {
  return calls.write(call, true, async (deadline, trace) => {
    for (const chunk of writeChunks(writes)) {
      await untilDone(deadline, calls, call, chunk.length, byTable(chunk), async (left, leftCount) => {
        const command = new BatchWriteItemCommand({ RequestItems: left, ReturnConsumedCapacity: 'TOTAL' })
        traceWrite(command.input, trace)
        const answer = await client.send(command, { abortSignal: deadline.signal })
        calls.count(call, 'write', answer)
        const rest = answer.UnprocessedItems ?? {}
        const restCount = Object.values(rest).reduce((sum, requests) => sum + requests.length, 0)
        // From here on a part is stored: after a later failure the outcome is neither all nor nothing.
        if (restCount < leftCount) trace.mayBeApplied = true
        return [rest, restCount]
      })
    }
  })
}

export function batchGet(
  client: DynamoDBClient,
  calls: Calls,
  call: Call,
  { table, keys, consistent = false, attributes }: BatchGetInput,
): Promise<Item[]> {
  const shape = { ConsistentRead: consistent, ...projectionOf(attributes) }
  return calls.read(call, async (deadline) => {
    const found: Item[] = []
    for (const chunk of chunksOf(keys, MAX_BATCH_KEYS)) {
      await untilDone(deadline, calls, call, chunk.length, chunk, async (left) => {
        const command = new BatchGetItemCommand({
          RequestItems: { [table]: { Keys: left, ...shape } },
          ReturnConsumedCapacity: 'TOTAL',
        })
        const answer = await client.send(command, { abortSignal: deadline.signal })
        calls.count(call, 'read', answer)
        found.push(...(answer.Responses?.[table] ?? []))
        const rest = answer.UnprocessedKeys?.[table]?.Keys ?? []
        return [rest, rest.length]
      })
    }
    return found
  })
}

/** Sends, then sends unprocessed items again, with jitter, until none is left or the time is up. */
async function untilDone<T>(
  deadline: Deadline,
  calls: Calls,
  call: Call,
  count: number,
  requests: T,
  send: (left: T, leftCount: number) => Promise<[rest: T, restCount: number]>,
): Promise<void> {
  let [left, leftCount] = [requests, count]
  for (let attempt = 1; ; attempt++) {
    let failure: unknown
    try {
      const [rest, restCount] = await send(left, leftCount)
      if (restCount === 0) return
      if (restCount < leftCount) attempt = 1
      left = rest
      leftCount = restCount
    } catch (error) {
      if (!isTransient(error as SdkFailure)) throw error
      failure = error
    }
    if (!(await deadline.pause(attempt))) throw failure ?? leftOver(leftCount)
    calls.counter.retried(call.verb, call.operation, 1)
  }
}

function leftOver(count: number): Error {
  return Object.assign(new Error(`${count} items of a batch were left unprocessed until the timeout`), {
    name: 'ThrottlingException',
  })
}

/** At most 25 writes and 16 MB each. */
export function* writeChunks(writes: BatchWrite[]): Generator<BatchWrite[]> {
  let chunk: BatchWrite[] = []
  let chunkBytes = 0
  for (const write of writes) {
    const size = ENVELOPE_BYTES + write.table.length + wireBytes('put' in write ? write.put : write.delete)
    if (chunk.length === MAX_BATCH_WRITES || (chunk.length > 0 && chunkBytes + size > MAX_BATCH_BYTES)) {
      yield chunk
      chunk = []
      chunkBytes = 0
    }
    chunk.push(write)
    chunkBytes += size
  }
  if (chunk.length > 0) yield chunk
}

const ENVELOPE_BYTES = 64

function byTable(writes: BatchWrite[]): Record<string, WriteRequest[]> {
  const requests: Record<string, WriteRequest[]> = {}
  for (const write of writes) {
    const request =
      'put' in write ? { PutRequest: { Item: write.put } } : { DeleteRequest: { Key: write.delete } }
    const ofTable = (requests[write.table] ??= [])
    ofTable.push(request)
  }
  return requests
}

/** Names are always placeholders, because many plain words are reserved. */
export function projectionOf(attributes: string[] | undefined): object {
  if (attributes === undefined) return {}
  const names = attributes.map((name, i) => [`#${i}`, name] as const)
  return {
    ProjectionExpression: names.map(([placeholder]) => placeholder).join(', '),
    ExpressionAttributeNames: Object.fromEntries(names),
  }
}
