import { randomUUID } from 'node:crypto'
import type { CancellationReason, TransactWriteItem } from '@aws-sdk/client-dynamodb'
import type { Item } from './attributes.js'
import type { Call, Calls } from './calls.js'
import { traceWrite } from './connection.js'
import type { Deadline } from './deadline.js'
import { isTransient, type SdkFailure } from './failures.js'
import { type DynamoDBClient, TransactWriteItemsCommand } from './sdk.js'

export const MAX_TRANSACTION_ITEMS = 100

export type TransactionItem = TransactWriteItem

export interface ItemRefusal {
  /** Index of the item in the given list, from 0. */
  index: number
  /** The item that did not meet the condition; absent if there is none. */
  item?: Item
}

/** If a condition was not met, nothing was written, and `refusals` has at least one entry. */
export type TransactionResult = { applied: true } | { applied: false; refusals: ItemRefusal[] }

type Cancelled = SdkFailure & { CancellationReasons?: CancellationReason[] }

/** Cancellation reasons that may pass with a retry. */
const PASSING = new Set(['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded', 'None'])

export function transactWrite(
  client: DynamoDBClient,
  calls: Calls,
  call: Call,
  items: TransactionItem[],
): Promise<TransactionResult> {
  // One token for all attempts: DynamoDB executes it once, even if a response was lost.
  const command = new TransactWriteItemsCommand({
    TransactItems: items.map(telling),
    ClientRequestToken: randomUUID(),
    ReturnConsumedCapacity: 'TOTAL',
  })
  return calls.write(call, true, async (deadline, trace) => {
    traceWrite(command.input, trace)
    for (let attempt = 1; ; attempt++) {
      try {
        const answer = await client.send(command, { abortSignal: deadline.signal })
        calls.count(call, 'write', answer)
        return { applied: true }
      } catch (error) {
        const refusals = refusalsOf(error as Cancelled)
        if (refusals.length > 0) {
          calls.counter.refused(call.verb, call.operation)
          return { applied: false, refusals }
        }
        await again(error as Cancelled, deadline, attempt)
        calls.counter.retried(call.verb, call.operation, 1)
      }
    }
  })
}

/** Waits for the next attempt, or throws. */
async function again(error: Cancelled, deadline: Deadline, attempt: number): Promise<void> {
  const isPassing =
    isTransient(error) ||
    (error.CancellationReasons?.every((reason) => PASSING.has(reason.Code ?? 'None')) ?? false)
  if (!isPassing) throw error
  if (!(await deadline.pause(attempt))) throw asTransient(error)
}

/** A cancellation does not count as a failure of the engine. If the time is up with it, it does. */
function asTransient(error: Cancelled): unknown {
  if (isTransient(error)) return error
  const codes = error.CancellationReasons?.map((reason) => reason.Code ?? 'None').join(', ')
  return Object.assign(new Error(`cancelled until the timeout (${codes})`, { cause: error }), {
    name: 'ThrottlingException',
  })
}

function refusalsOf(error: Cancelled): ItemRefusal[] {
  return (error.CancellationReasons ?? []).flatMap(({ Code, Item: item }, index) =>
    Code === 'ConditionalCheckFailed' ? [{ index, ...(item !== undefined && { item }) }] : [],
  )
}

function telling(item: TransactionItem): TransactionItem {
  const [[kind, request]] = Object.entries(item) as [[string, object]]
  return { [kind]: { ReturnValuesOnConditionCheckFailure: 'ALL_OLD', ...request } }
}
