import { DynamoClient } from '../../../src/engines/dynamodb/client/client.js'
import { NO_SINK } from '../../../src/engines/dynamodb/feed/messages.js'
import { Sequencer } from '../../../src/engines/dynamodb/feed/sequencer.js'
import { Topic } from '../../../src/engines/dynamodb/feed/topic.js'
import { streamHandler } from './handler.js'

/** Set by deploy/terraform and deploy/cloudformation. Lambda sets the region; the SDK reads endpoints. */
const {
  AWS_REGION: region = 'us-east-1',
  ALLOWLISTS_TABLE: allowlists = 'Allowlists',
  GIANT_TABLE: giant = 'AllowlistsGiant',
  INVALIDATION_TOPIC: topicArn,
} = process.env
const tables = { allowlists, giant }

export const handler = streamHandler({
  sequencer: new Sequencer({
    client: new DynamoClient({ region }),
    tables,
    sink: topicArn === undefined ? NO_SINK : new Topic(topicArn, { region }),
    now: Date.now,
  }),
  tables,
  log: (line) => console.error(line),
})
