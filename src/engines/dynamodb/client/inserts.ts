import type { BatchStatementRequest, BatchStatementResponse } from '@aws-sdk/client-dynamodb'
import { chunksOf } from '../../../core/chunks.js'
import type { Item } from './attributes.js'
import { MAX_BATCH_WRITES } from './batches.js'
import type { Call, Calls } from './calls.js'
import { traceWrite, type WriteTrace } from './connection.js'
import type { Deadline } from './deadline.js'
import { isTransient, type SdkFailure } from './failures.js'
import { BatchExecuteStatementCommand, type DynamoDBClient } from './sdk.js'

/** The result of an insert. */
export interface Insertion {
  inserted: boolean
  /** An earlier attempt has an unknown outcome: the existing item may be this one. */
  maybeOwn: boolean
}

/** The emulator behind the endpoint does not support PartiQL statements. */
export class NoStatements extends Error {}

/** Failures of one statement that a retry may resolve. */
const PASSING = new Set([
  'ThrottlingError',
  'ProvisionedThroughputExceeded',
  'RequestLimitExceeded',
  'InternalServerError',
  'TransactionConflict',
])

interface Inserting {
  client: DynamoDBClient
  calls: Calls
  call: Call
  table: string
}

/**
 * Inserts items where none exist, 25 per request, with PartiQL: the only batch of DynamoDB that has a condition. Each
 * item succeeds or fails separately. Attribute names are part of the statement, and are ours; values are parameters.
 */
export function insertByStatements(inserting: Inserting, items: readonly Item[]): Promise<Insertion[]> {
  const { calls, call } = inserting
  return calls.write(call, true, async (deadline, trace) => {
    const ends: Insertion[] = []
    for (const chunk of chunksOf(items, MAX_BATCH_WRITES)) {
      ends.push(...(await insertChunk(inserting, chunk, deadline, trace)))
      trace.mayBeApplied = true
    }
    return ends
  })
}

async function insertChunk(
  inserting: Inserting,
  items: readonly Item[],
  deadline: Deadline,
  outer: WriteTrace,
): Promise<Insertion[]> {
  const ends: Insertion[] = items.map(() => ({ inserted: false, maybeOwn: false }))
  let left = items.map((_, i) => i)
  for (let attempt = 1; ; attempt++) {
    const trace: WriteTrace = { repeatable: true, mayBeApplied: false }
    let failure: unknown
    try {
      const responses = await send(inserting, statements(inserting.table, items, left), deadline, trace)
      const again = left.filter((item, i) => !settled(ends[item]!, responses[i]!, trace))
      if (again.length < left.length) outer.mayBeApplied = true
      left = again
      if (left.length === 0) return ends
    } catch (error) {
      if ((error as SdkFailure).name === 'UnknownOperationException') throw new NoStatements()
      if (!isTransient(error as SdkFailure)) throw error
      failure = error
      for (const item of left) ends[item]!.maybeOwn ||= trace.mayBeApplied
      outer.mayBeApplied ||= trace.mayBeApplied
    }
    if (!(await deadline.pause(attempt))) throw failure ?? throttled(left.length)
    const { calls, call } = inserting
    calls.counter.retried(call.verb, call.operation, 1)
  }
}

async function send(
  { client, calls, call }: Inserting,
  Statements: BatchStatementRequest[],
  deadline: Deadline,
  trace: WriteTrace,
): Promise<BatchStatementResponse[]> {
  const command = new BatchExecuteStatementCommand({ Statements, ReturnConsumedCapacity: 'TOTAL' })
  traceWrite(command.input, trace)
  const answer = await client.send(command, { abortSignal: deadline.signal })
  calls.count(call, 'write', answer)
  return answer.Responses ?? []
}

/** Whether the item needs no further attempt. */
function settled(end: Insertion, { Error: error }: BatchStatementResponse, trace: WriteTrace): boolean {
  // The SDK may have tried before, with an outcome that it does not report.
  end.maybeOwn ||= trace.mayBeApplied
  end.inserted = error === undefined
  if (error === undefined || error.Code === 'DuplicateItem') return true
  if (!PASSING.has(error.Code ?? '')) {
    throw Object.assign(new Error(error.Message), { name: error.Code ?? 'UnknownError' })
  }
  return false
}

function statements(
  table: string,
  items: readonly Item[],
  which: readonly number[],
): BatchStatementRequest[] {
  return which.map((index) => {
    const entries = Object.entries(items[index]!)
    const fields = entries.map(([name]) => `'${name}': ?`).join(', ')
    return {
      Statement: `INSERT INTO "${table}" VALUE {${fields}}`,
      Parameters: entries.map(([, value]) => value),
    }
  })
}

function throttled(count: number): Error {
  return Object.assign(new Error(`${count} items were throttled until the timeout`), {
    name: 'ThrottlingException',
  })
}
