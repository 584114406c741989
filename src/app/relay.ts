import { type Fields, KnownFields } from '../core/fields.js'
import type { Topic } from '../engines/dynamodb/feed/topic.js'
import { dynamodbUrl } from './dynamodb-tables.js'

export interface RelayOptions {
  /** A `dynamodb://` URL. */
  store: string
  /** The topic that notifies pods of changes at once. Without it they find changes in the logs, a little later. */
  topicArn?: string
  /** Other relays take over the shards of a relay that has not renewed its leases for this long. */
  leaseMs?: number
  /** How long to wait at the end of a shard before reading again. */
  pollMs?: number
  /** How long to collect changes after some were written, so that fewer log entries are needed. Default: 0. */
  batchMs?: number
  /** Receives failures, which are then retried. */
  onReport?: (message: string, error: unknown) => void
}

const FIELDS: Fields<RelayOptions> = {
  store: true,
  topicArn: true,
  leaseMs: true,
  pollMs: true,
  batchMs: true,
  onReport: true,
}
const KNOWN = new KnownFields(FIELDS)

export interface RunningRelay {
  /** Number of stream shards that this relay reads now. */
  readonly shardCount: number
  /** Finishes what it has begun, and leaves the rest to other relays. */
  stop(): Promise<void>
}

async function openTopic(topicArn: string, region: string): Promise<Topic> {
  const { Topic } = await import('../engines/dynamodb/feed/topic.js')
  return new Topic(topicArn, { region })
}

/** Does the work of the stream processor on AWS Lambda in a process of your own. Several processes share the work. */
export async function startRelay(options: RelayOptions): Promise<RunningRelay> {
  KNOWN.check(options)
  const { region, endpoint, tables } = dynamodbUrl(options.store)
  const { topicArn, leaseMs, pollMs, batchMs, onReport } = options
  const [{ CapacityCounts }, { DynamoClient }, { Spending }, { Relay }, { NO_SINK }] = await Promise.all([
    import('../engines/dynamodb/client/capacity.js'),
    import('../engines/dynamodb/client/client.js'),
    import('../engines/dynamodb/spending.js'),
    import('../engines/dynamodb/feed/relay.js'),
    import('../engines/dynamodb/feed/messages.js'),
  ])
  const dynamo = { region, ...(endpoint !== undefined && { endpoint }) }
  // The endpoint in a store URL is DynamoDB's. The SDK finds those of other services itself.
  const topic = topicArn === undefined ? undefined : await openTopic(topicArn, region)
  const counts = new CapacityCounts()
  const client = new DynamoClient({ ...dynamo, counter: counts })
  const spending = new Spending({ client, table: tables.guards, counts, now: Date.now })
  const relay = new Relay({
    client,
    streams: dynamo,
    tables,
    sink: topic ?? NO_SINK,
    ...(leaseMs !== undefined && { leaseMs }),
    ...(pollMs !== undefined && { pollMs }),
    ...(batchMs !== undefined && { batchMs }),
    ...(onReport !== undefined && { report: onReport }),
  })
  const close = async (): Promise<void> => {
    await spending.close()
    topic?.close()
    client.close()
  }
  try {
    await relay.start()
  } catch (error) {
    await relay.stop()
    await close()
    throw error
  }
  return {
    get shardCount() {
      return relay.shardCount
    },
    async stop() {
      await relay.stop()
      await close()
    },
  }
}
