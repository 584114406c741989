import { chunksOf } from '../../../core/chunks.js'
import { CatracaError } from '../../../core/errors.js'
import type { QueueClientOptions } from '../options.js'
import type { FeedMessage, MessageSink } from './messages.js'
import { PublishBatchCommand, SNSClient } from './sdk-sns.js'

/** Maximum messages of one SNS call. */
const MAX_BATCH = 10

/** Publishes to the topic that the queues of all pods are subscribed to. */
export class Topic implements MessageSink {
  private readonly sns: SNSClient

  constructor(
    private readonly arn: string,
    options: QueueClientOptions,
  ) {
    this.sns = new SNSClient({ ...options, maxAttempts: 5 })
  }

  async publish(messages: readonly FeedMessage[]): Promise<void> {
    for (const part of chunksOf(messages, MAX_BATCH)) {
      const command = new PublishBatchCommand({
        TopicArn: this.arn,
        PublishBatchRequestEntries: part.map((message, i) => ({
          Id: String(i),
          Message: JSON.stringify(message),
          // Subscribers can filter by these.
          MessageAttributes: {
            type: { DataType: 'String', StringValue: message.type },
            allowlistId: { DataType: 'String', StringValue: message.allowlistId },
          },
        })),
      })
      await this.send(command)
    }
  }

  private async send(command: PublishBatchCommand): Promise<void> {
    let failed: number
    try {
      failed = (await this.sns.send(command)).Failed?.length ?? 0
    } catch (cause) {
      const { name } = cause as Error
      throw new CatracaError('ENGINE_UNAVAILABLE', `SNS accepted no messages: ${name}`, { cause })
    }
    if (failed > 0) throw new CatracaError('ENGINE_UNAVAILABLE', `SNS refused ${failed} messages`)
  }

  close(): void {
    this.sns.destroy()
  }
}
