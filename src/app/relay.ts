import { parseStoreUrl } from '../config/store-url.js'
import { invalid } from '../core/errors.js'
import { type Fields, KnownFields } from '../core/fields.js'

export interface RelayOptions {
  /** A `dynamodb://` URL. */
  store: string
  /** Where changes are told to pods at once; without it they find them in the logs, a little later. */
  topicArn?: string
  /** After so long without a sign of life the shards of a relay are taken over by others. */
  leaseMs?: number
  /** How long to wait at the end of a shard before looking again. */
  pollMs?: number
  /** Told of what went wrong, and is tried again. */
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
  /** Of the stream shards, how many this relay reads at the moment. */
  readonly shardCount: number
  /** Ends what it has begun, and leaves the rest to others. */
  stop(): Promise<void>
}

/** What the stream processor does on AWS Lambda, in a process of one's own. Several share the work. */
export async function startRelay(options: RelayOptions): Promise<RunningRelay> {
  KNOWN.check(options)
  const url = parseStoreUrl(options.store)
  if (url.engine !== 'dynamodb') throw invalid('store', 'must be a dynamodb:// URL for this')
  const { topicArn, leaseMs, pollMs, onReport } = options
  const [{ DynamoClient }, { Relay }, { Topic }, { NO_SINK }] = await Promise.all([
    import('../engines/dynamodb/client/client.js'),
    import('../engines/dynamodb/feed/relay.js'),
    import('../engines/dynamodb/feed/topic.js'),
    import('../engines/dynamodb/feed/messages.js'),
  ])
  const { region, endpoint, tables } = url
  const dynamo = { region, ...(endpoint !== undefined && { endpoint }) }
  const client = new DynamoClient(dynamo)
  // The endpoint of a store is that of DynamoDB; the SDK finds those of other services by itself.
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
