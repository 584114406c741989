import type { Sequencer } from '../../../src/engines/dynamodb/feed/sequencer.js'
import {
  type LambdaRecord,
  readRecord,
  type StreamTable,
} from '../../../src/engines/dynamodb/feed/stream-records.js'

export interface StreamEvent {
  Records: LambdaRecord[]
}

/**
 * Lambda retries from the first of these records, and after the retries of the mapping sends it to the dead-letter
 * queue.
 */
export interface BatchAnswer {
  batchItemFailures: { itemIdentifier: string }[]
}

export interface HandlerParts {
  sequencer: Sequencer
  tables: Record<StreamTable, string>
  log(line: string): void
}

/** The Lambda handler: receives records of one shard, in order. */
export function streamHandler({ sequencer, tables, log }: HandlerParts) {
  return async ({ Records: raw }: StreamEvent): Promise<BatchAnswer> => {
    const records = raw.flatMap((one) => readRecord(tableOf(one, tables), one) ?? [])
    if (records.length === 0) return { batchItemFailures: [] }
    const failures = await sequencer.process(records)
    for (const { listId, error } of failures) {
      // Error messages contain no customers; the records themselves are not logged.
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
