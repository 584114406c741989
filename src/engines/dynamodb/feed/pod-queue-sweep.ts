import { ListSubscriptionsByTopicCommand, type SNSClient, UnsubscribeCommand } from './sdk-sns.js'
import {
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  ListQueuesCommand,
  ListQueueTagsCommand,
  type SQSClient,
} from './sdk-sqs.js'

/** Tag of a pod's queue: the time of its last heartbeat, in epoch milliseconds. */
export const HEARTBEAT_TAG = 'catraca-heartbeat'

interface SweepOptions {
  topicArn: string
  prefix: string
  /** Pods with an older heartbeat are dead. */
  before: number
}

/** Deletes the queues of pods that died without deleting them. Returns their number. */
export async function sweepOrphans(sns: SNSClient, sqs: SQSClient, options: SweepOptions): Promise<number> {
  const orphans: { url: string; arn: string }[] = []
  for await (const url of queues(sqs, options.prefix)) {
    const arn = await orphanArn(sqs, url, options.before)
    if (arn !== undefined) orphans.push({ url, arn })
  }
  if (orphans.length === 0) return 0
  const subscriptions = await subscriptionsOf(sns, options.topicArn)
  for (const { url, arn } of orphans) {
    const subscription = subscriptions.get(arn)
    if (subscription !== undefined) await sns.send(new UnsubscribeCommand({ SubscriptionArn: subscription }))
    await sqs.send(new DeleteQueueCommand({ QueueUrl: url })).catch(ignoreGone)
  }
  return orphans.length
}

async function* queues(sqs: SQSClient, prefix: string): AsyncGenerator<string> {
  let next: string | undefined
  do {
    const command = new ListQueuesCommand({
      QueueNamePrefix: prefix,
      MaxResults: 1000,
      ...(next !== undefined && { NextToken: next }),
    })
    const answer = await sqs.send(command)
    yield* answer.QueueUrls ?? []
    next = answer.NextToken
  } while (next !== undefined)
}

/** The ARN of a queue whose pod is dead; undefined if the pod is alive, or the queue is already deleted. */
async function orphanArn(sqs: SQSClient, url: string, before: number): Promise<string | undefined> {
  try {
    const { Tags: tags } = await sqs.send(new ListQueueTagsCommand({ QueueUrl: url }))
    // A queue without a heartbeat is not ours.
    const beat = Number(tags?.[HEARTBEAT_TAG] ?? Number.NaN)
    if (!(beat < before)) return undefined
    const command = new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ['QueueArn'] })
    return (await sqs.send(command)).Attributes?.QueueArn
  } catch (error) {
    ignoreGone(error)
    return undefined
  }
}

export async function subscriptionsOf(sns: SNSClient, topicArn: string): Promise<Map<string, string>> {
  const byEndpoint = new Map<string, string>()
  let next: string | undefined
  do {
    const command = new ListSubscriptionsByTopicCommand({
      TopicArn: topicArn,
      ...(next !== undefined && { NextToken: next }),
    })
    const answer = await sns.send(command)
    for (const { Endpoint, SubscriptionArn } of answer.Subscriptions ?? []) {
      if (Endpoint !== undefined && SubscriptionArn !== undefined) byEndpoint.set(Endpoint, SubscriptionArn)
    }
    next = answer.NextToken
  } while (next !== undefined)
  return byEndpoint
}

/** Another pod may sweep at the same time. */
function ignoreGone(error: unknown): void {
  const { name } = error as Error
  if (name !== 'QueueDoesNotExist' && name !== 'AWS.SimpleQueueService.NonExistentQueue') throw error
}
