import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { CreateTopicCommand, PublishCommand, SNSClient, SubscribeCommand } from '@aws-sdk/client-sns'
import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SetQueueAttributesCommand,
  SQSClient,
} from '@aws-sdk/client-sqs'
import { startQueues } from '../../support/dynamodb-queues.js'

const template = readFileSync(new URL('../../../../deploy/pod-queue-policy.json', import.meta.url), 'utf8')

describe('topic and queues', async () => {
  const server = await startQueues()
  const sns = new SNSClient(server.clientOptions)
  const sqs = new SQSClient(server.clientOptions)

  it('carry a message to every queue that has the policy of the repository', async () => {
    const { TopicArn = '' } = await sns.send(new CreateTopicCommand({ Name: 'allowlist-cache-invalidation' }))
    const urls = await Promise.all(
      [1, 2].map(async (pod) => {
        const { QueueUrl } = await sqs.send(new CreateQueueCommand({ QueueName: `pod-${pod}` }))
        const asked = { QueueUrl, AttributeNames: ['QueueArn' as const] }
        const arn = (await sqs.send(new GetQueueAttributesCommand(asked))).Attributes?.QueueArn ?? ''
        const Policy = template.replace('QUEUE_ARN', arn).replace('TOPIC_ARN', TopicArn)
        await sqs.send(new SetQueueAttributesCommand({ QueueUrl, Attributes: { Policy } }))
        await sns.send(new SubscribeCommand({ TopicArn, Protocol: 'sqs', Endpoint: arn }))
        return QueueUrl
      }),
    )
    await sns.send(new PublishCommand({ TopicArn, Message: '{"type":"CUSTOMER_CHANGED"}' }))
    for (const QueueUrl of urls) {
      const { Messages = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 2 }))
      assert.deepEqual(
        Messages.map(({ Body = '' }) => JSON.parse(Body).Message),
        ['{"type":"CUSTOMER_CHANGED"}'],
      )
    }
    sns.destroy()
    sqs.destroy()
  })
})
