import type { Sequencer } from '../../../src/engines/dynamodb/feed/sequencer.js'
import {
  type LambdaRecord,
  readRecord,
  type StreamTable,
} from '../../../src/engines/dynamodb/feed/stream-records.js'

export interface StreamEvent {
  Records: LambdaRecord[]
}

/** Lambda goes on with the first of these, and gives up on it after the retries of the mapping: to the dead letters. */
export interface BatchAnswer {
  batchItemFailures: { itemIdentifier: string }[]
}

export interface HandlerParts {
  sequencer: Sequencer
  tables: Record<StreamTable, string>
  log(line: string): void
}

/** What Lambda calls with some records of one shard, in their order. */
export function streamHandler({ sequencer, tables, log }: HandlerParts) {
  return async ({ Records: raw }: StreamEvent): Promise<BatchAnswer> => {
    const records = raw.flatMap((one) => readRecord(tableOf(one, tables), one) ?? [])
    if (records.length === 0) return { batchItemFailures: [] }
    const failures = await sequencer.process(records)
    for (const { listId, error } of failures) {
      // Customers are in no message of ours; the records themselves are not logged.
      log(JSON.stringify({ level: 'error', listId, error: messageOf(error) }))
    }
    const failed = new Set(failures.map(({ sequence }) => sequence))
    const first = records.find(({ sequence }) => failed.has(sequence))
    return { batchItemFailures: first === undefined ? [] : [{ itemIdentifier: first.sequence }] }
  }
}

/** `arn:aws:dynamodb:REGION:ACCOUNT:table/NAME/stream/LABEL` */
function tableOf(
  { eventSourceARN: arn = '' }: LambdaRecord,
  tables: Record<StreamTable, string>,
): StreamTable {
  const [, name] = arn.split(':').at(5)?.split('/') ?? []
  return name === tables.giant ? 'giant' : 'allowlists'
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
