import type * as Sdk from '@aws-sdk/client-sqs'
import { requirePackage } from '../../../core/packages.js'

export const {
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  ListQueueTagsCommand,
  ListQueuesCommand,
  ReceiveMessageCommand,
  SQSClient,
  SetQueueAttributesCommand,
  TagQueueCommand,
} = requirePackage<typeof Sdk>('@aws-sdk/client-sqs', 'a topic')

export type SQSClient = Sdk.SQSClient
