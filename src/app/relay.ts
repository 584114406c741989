import { type Fields, KnownFields } from '../core/fields.js'
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
  /** Receives failures, which are then retried. */
  onReport?: (message: string, error: unknown) => void
}

const FIELDS: Fields<RelayOptions> = {
  store: true,
  topicArn: true,
  leaseMs: true,
  pollMs: true,
  onReport: true,
}
const KNOWN = new KnownFields(FIELDS)

export interface RunningRelay {
  /** Number of stream shards that this relay reads now. */
  readonly shardCount: number
  /** Finishes what it has begun, and leaves the rest to other relays. */
  stop(): Promise<void>
}

/** Does the work of the stream processor on AWS Lambda in a process of your own. Several processes share the work. */
export async function startRelay(options: RelayOptions): Promise<RunningRelay> {
  KNOWN.check(options)
  const { region, endpoint, tables } = dynamodbUrl(options.store)
  const { topicArn, leaseMs, pollMs, onReport } = options
  const [{ DynamoClient }, { Relay }, { Topic }, { NO_SINK }] = await Promise.all([
    import('../engines/dynamodb/client/client.js'),
    import('../engines/dynamodb/feed/relay.js'),
    import('../engines/dynamodb/feed/topic.js'),
    import('../engines/dynamodb/feed/messages.js'),
  ])
  const dynamo = { region, ...(endpoint !== undefined && { endpoint }) }
  const client = new DynamoClient(dynamo)
  // The endpoint in a store URL is DynamoDB's. The SDK finds those of other services itself.
  const topic = topicArn === undefined ? undefined : new Topic(topicArn, { region })
  const relay = new Relay({
    client,
    streams: dynamo,
    tables,
    sink: topic ?? NO_SINK,
    ...(leaseMs !== undefined && { leaseMs }),
    ...(pollMs !== undefined && { pollMs }),
    ...(onReport !== undefined && { report: onReport }),
  })
  const close = (): void => {
    topic?.close()
    client.close()
  }
  try {
    await relay.start()
  } catch (error) {
    await relay.stop()
    close()
    throw error
  }
  return {
    get shardCount() {
      return relay.shardCount
    },
    async stop() {
      await relay.stop()
      close()
    },
  }
}
