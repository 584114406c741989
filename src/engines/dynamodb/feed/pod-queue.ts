import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Message } from '@aws-sdk/client-sqs'
import { CatracaError } from '../../../core/errors.js'
import { every } from '../../../core/timers.js'
import type { QueueClientOptions } from '../options.js'
import type { ChangeSource, OnChange } from './change-log.js'
import { type FeedMessage, readMessage } from './messages.js'
import { HEARTBEAT_TAG, sweepOrphans } from './pod-queue-sweep.js'
import { SNSClient, SubscribeCommand, UnsubscribeCommand } from './sdk-sns.js'
import {
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SetQueueAttributesCommand,
  SQSClient,
  TagQueueCommand,
} from './sdk-sqs.js'

export interface PodQueueOptions {
  topicArn: string
  clients: QueueClientOptions
  /** Prefix of the queue names of all pods. */
  prefix?: string
  now?: () => number
  heartbeatMs?: number
  /** A queue whose pod had no heartbeat for this long is deleted by any other pod. */
  orphanAfterMs?: number
  report?: (message: string, error: unknown) => void
}

const MINUTE_MS = 60_000
export const DEFAULT_POD_QUEUE = {
  prefix: 'allowlist-pod-invalidation-',
  heartbeatMs: 10 * MINUTE_MS,
  orphanAfterMs: 60 * MINUTE_MS,
} as const

const LONG_POLL_SECONDS = 20
/** Older messages are useless: the pod has read the logs meanwhile. */
const RETENTION_SECONDS = 300
const PAUSE_MS = 1000

interface Queue {
  url: string
  subscriptionArn: string
}

/** The queue of this pod, which gets every message of the topic. Created at the start, deleted at the end. */
export class PodQueue implements ChangeSource {
  private readonly sns: SNSClient
  private readonly sqs: SQSClient
  private readonly listeners = new Set<OnChange>()
  private readonly stopping = new AbortController()
  private readonly options: Required<PodQueueOptions>
  private queue: Queue | undefined
  private loop: Promise<void> = Promise.resolve()
  private upkeep: NodeJS.Timeout | undefined

  private constructor(options: PodQueueOptions) {
    this.options = { ...DEFAULT_POD_QUEUE, now: Date.now, report: () => {}, ...options }
    this.sns = new SNSClient(options.clients)
    this.sqs = new SQSClient({
      ...options.clients,
      requestHandler: { connectionTimeout: 2000, requestTimeout: (LONG_POLL_SECONDS + 10) * 1000 },
    })
  }

  /** Resolves when messages arrive. */
  static async open(options: PodQueueOptions): Promise<PodQueue> {
    const pod = new PodQueue(options)
    try {
      pod.queue = await pod.make()
    } catch (cause) {
      pod.destroy()
      const { name, message } = cause as Error
      throw new CatracaError('STORE_UNUSABLE', `the queue of this pod: ${name}: ${message}`, { cause })
    }
    pod.loop = pod.receive()
    const { heartbeatMs } = pod.options
    pod.upkeep = every(() => pod.beat(), heartbeatMs)
    pod.upkeep.unref()
    void pod.sweep()
    return pod
  }

  /** Calls `wake` with `undefined` if any list may have changed. */
  listen(wake: OnChange): { stop(): void } {
    this.listeners.add(wake)
    return { stop: () => void this.listeners.delete(wake) }
  }

  async close(): Promise<void> {
    if (this.stopping.signal.aborted) return
    this.stopping.abort()
    clearInterval(this.upkeep)
    await this.loop
    try {
      await this.remove()
    } catch (error) {
      // Another pod will find and delete it as an orphan.
      this.options.report('removing the queue of this pod failed', error)
    }
    this.destroy()
  }

  /** Only queues of this topic are swept as orphans. */
  private get prefix(): string {
    const { prefix, topicArn } = this.options
    return `${prefix}${createHash('sha256').update(topicArn).digest('hex').slice(0, 8)}-`
  }

  /** A new name each time: SQS does not allow a name again for a minute after its deletion. */
  private async make(): Promise<Queue> {
    const { topicArn, now } = this.options
    const { QueueUrl: url } = await this.sqs.send(
      new CreateQueueCommand({
        QueueName: this.prefix + randomUUID().replaceAll('-', ''),
        Attributes: {
          MessageRetentionPeriod: String(RETENTION_SECONDS),
          ReceiveMessageWaitTimeSeconds: String(LONG_POLL_SECONDS),
        },
        tags: { [HEARTBEAT_TAG]: String(now()) },
      }),
    )
    const arn = await this.arnOf(url!)
    const policy = queuePolicy(arn, topicArn)
    await this.sqs.send(new SetQueueAttributesCommand({ QueueUrl: url, Attributes: { Policy: policy } }))
    const { SubscriptionArn: subscriptionArn } = await this.sns.send(
      new SubscribeCommand({
        TopicArn: topicArn,
        Protocol: 'sqs',
        Endpoint: arn,
        Attributes: { RawMessageDelivery: 'true' },
        ReturnSubscriptionArn: true,
      }),
    )
    return { url: url!, subscriptionArn: subscriptionArn! }
  }

  private async arnOf(url: string): Promise<string> {
    const command = new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ['QueueArn'] })
    return (await this.sqs.send(command)).Attributes!.QueueArn!
  }

  /** In this order: a queue without a subscription is found as an orphan, a subscription without a queue is not. */
  private async remove(): Promise<void> {
    if (this.queue === undefined) return
    await this.sns.send(new UnsubscribeCommand({ SubscriptionArn: this.queue.subscriptionArn }))
    await this.sqs.send(new DeleteQueueCommand({ QueueUrl: this.queue.url }))
  }

  private async receive(): Promise<void> {
    const { signal } = this.stopping
    while (!signal.aborted) {
      try {
        const { Messages: messages = [] } = await this.sqs.send(
          new ReceiveMessageCommand({
            QueueUrl: this.queue!.url,
            MaxNumberOfMessages: 10,
            WaitTimeSeconds: LONG_POLL_SECONDS,
          }),
          { abortSignal: signal },
        )
        if (messages.length > 0) await this.take(messages)
      } catch (error) {
        if (!signal.aborted) await this.recover(error)
      }
    }
  }

  private async take(messages: Message[]): Promise<void> {
    const told = messages.flatMap(({ Body = '' }) => readMessage(Body) ?? [])
    const once = new Map(
      told.map(({ allowlistId, type }) => [`${allowlistId}#${type}`, { allowlistId, type }]),
    )
    for (const { allowlistId, type } of once.values()) this.wake(allowlistId, type)
    const Entries = messages.map(({ ReceiptHandle }, i) => ({ Id: String(i), ReceiptHandle }))
    await this.sqs.send(new DeleteMessageBatchCommand({ QueueUrl: this.queue!.url, Entries }))
  }

  /** Messages may have been lost meanwhile, whatever the failure was. */
  private async recover(error: unknown): Promise<void> {
    const { report } = this.options
    report('receiving messages failed', error)
    await sleep(PAUSE_MS, undefined, { signal: this.stopping.signal }).catch(() => {})
    if (this.stopping.signal.aborted) return
    try {
      if (isGone(error)) this.queue = await this.make()
    } catch (failure) {
      report('creating the queue of this pod again failed', failure)
    }
    this.wake()
  }

  private wake(listId?: string, type?: FeedMessage['type']): void {
    for (const listener of this.listeners) listener(listId, type)
  }

  private async beat(): Promise<void> {
    try {
      const Tags = { [HEARTBEAT_TAG]: String(this.options.now()) }
      await this.sqs.send(new TagQueueCommand({ QueueUrl: this.queue!.url, Tags }))
    } catch (error) {
      this.options.report('renewing the lease of this pod failed', error)
    }
    await this.sweep()
  }

  private async sweep(): Promise<void> {
    const { topicArn, now, orphanAfterMs, report } = this.options
    try {
      await sweepOrphans(this.sns, this.sqs, { topicArn, prefix: this.prefix, before: now() - orphanAfterMs })
    } catch (error) {
      if (!this.stopping.signal.aborted) report('removing the queues of dead pods failed', error)
    }
  }

  private destroy(): void {
    this.sns.destroy()
    this.sqs.destroy()
  }
}

/** Only the topic may send to the queue, as in deploy/pod-queue-policy.json. */
function queuePolicy(queueArn: string, topicArn: string): string {
  return JSON.stringify({
    Version: '2012-10-17',
    Statement: [
      {
        Sid: 'TopicMaySend',
        Effect: 'Allow',
        Principal: { Service: 'sns.amazonaws.com' },
        Action: 'sqs:SendMessage',
        Resource: queueArn,
        Condition: { ArnEquals: { 'aws:SourceArn': topicArn } },
      },
    ],
  })
}

const GONE = ['QueueDoesNotExist', 'AWS.SimpleQueueService.NonExistentQueue']

const isGone = (error: unknown): boolean => GONE.includes((error as Error).name)
