import type { DynamoDBStreamsClientConfig, StreamDescription } from '@aws-sdk/client-dynamodb-streams'
import { engineError, type SdkFailure } from '../client/failures.js'
import { DescribeTableCommand, type DynamoDBClient } from '../client/sdk.js'
import {
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
} from './sdk-streams.js'
import { readRecord, type StreamRecord, type StreamTable } from './stream-records.js'

export type StreamsClientOptions = Pick<DynamoDBStreamsClientConfig, 'region' | 'endpoint' | 'credentials'>

export interface StreamShard {
  id: string
  parentId?: string
}

interface RecordPart {
  /** The records about our items. */
  records: StreamRecord[]
  /** Sequence number of the last record, of any kind; absent if there is none. */
  lastSequence?: string
  /** When the last record was created, to the second. */
  lastMadeAt?: number
  /** Absent at the end of a closed shard. */
  next?: string
}

export function connectStreams(options: StreamsClientOptions): DynamoDBStreamsClient {
  return new DynamoDBStreamsClient({
    ...options,
    maxAttempts: 5,
    requestHandler: { connectionTimeout: 1000, requestTimeout: 10_000, throwOnRequestTimeout: true },
  })
}

/** The current stream of a table. */
export async function findStream(client: DynamoDBClient, table: string): Promise<string | undefined> {
  try {
    const { Table } = await client.send(new DescribeTableCommand({ TableName: table }))
    return Table?.StreamSpecification?.StreamEnabled ? Table.LatestStreamArn : undefined
  } catch (error) {
    throw engineError(error, `DescribeTable of ${table}`, false)
  }
}

/** Reads the stream of one table. */
export class StreamReader {
  constructor(
    private readonly client: DynamoDBStreamsClient,
    readonly arn: string,
    readonly table: StreamTable,
  ) {}

  /** Distinguishes this stream from that of the other table, and from earlier streams of the table. */
  get label(): string {
    return `${this.table}@${this.arn.slice(this.arn.lastIndexOf('/') + 1)}`
  }

  /** `gone`: it was turned off a day ago, and its last records were trimmed. */
  async shards(): Promise<StreamShard[] | 'gone'> {
    const shards: StreamShard[] = []
    let start: string | undefined
    do {
      const command = new DescribeStreamCommand({
        StreamArn: this.arn,
        ...(start !== undefined && { ExclusiveStartShardId: start }),
      })
      const description = await this.describe(command)
      if (description === 'gone') return 'gone'
      for (const { ShardId: id, ParentShardId: parentId } of description?.Shards ?? []) {
        if (id !== undefined) shards.push({ id, ...(parentId !== undefined && { parentId }) })
      }
      start = description?.LastEvaluatedShardId
    } while (start !== undefined)
    return shards
  }

  /** Where to continue; from the oldest record without `after`. `trimmed`: the next records were trimmed meanwhile. */
  async iterator(shardId: string, after: string | undefined): Promise<string | 'trimmed'> {
    const command = new GetShardIteratorCommand({
      StreamArn: this.arn,
      ShardId: shardId,
      ...(after === undefined
        ? { ShardIteratorType: 'TRIM_HORIZON' }
        : { ShardIteratorType: 'AFTER_SEQUENCE_NUMBER', SequenceNumber: after }),
    })
    try {
      return (await this.client.send(command)).ShardIterator ?? 'trimmed'
    } catch (error) {
      // The shard itself may be deleted too: it exists as long as its records.
      if (isOneOf(error, 'TrimmedDataAccessException', 'ResourceNotFoundException')) return 'trimmed'
      throw engineError(error, 'GetShardIterator', false)
    }
  }

  /** `expired`: the iterator is too old, and a new one is needed. */
  async records(iterator: string): Promise<RecordPart | 'expired' | 'trimmed'> {
    try {
      const answer = await this.client.send(new GetRecordsCommand({ ShardIterator: iterator }))
      const raw = answer.Records ?? []
      const { SequenceNumber: lastSequence, ApproximateCreationDateTime: madeAt } = raw.at(-1)?.dynamodb ?? {}
      return {
        records: raw.flatMap((one) => readRecord(this.table, one) ?? []),
        ...(lastSequence !== undefined && { lastSequence }),
        ...(madeAt !== undefined && { lastMadeAt: madeAt.getTime() }),
        ...(answer.NextShardIterator !== undefined && { next: answer.NextShardIterator }),
      }
    } catch (error) {
      if (isOneOf(error, 'ExpiredIteratorException')) return 'expired'
      if (isOneOf(error, 'TrimmedDataAccessException', 'ResourceNotFoundException')) return 'trimmed'
      throw engineError(error, 'GetRecords', false)
    }
  }

  private async describe(command: DescribeStreamCommand): Promise<StreamDescription | undefined | 'gone'> {
    try {
      return (await this.client.send(command)).StreamDescription
    } catch (error) {
      if (isOneOf(error, 'ResourceNotFoundException')) return 'gone'
      throw engineError(error, 'DescribeStream', false)
    }
  }
}

const isOneOf = (error: unknown, ...names: string[]): boolean => names.includes((error as SdkFailure).name)
