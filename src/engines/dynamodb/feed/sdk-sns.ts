import type * as Sdk from '@aws-sdk/client-sns'
import { requirePackage } from '../../../core/packages.js'

export const {
  ListSubscriptionsByTopicCommand,
  PublishBatchCommand,
  SNSClient,
  SubscribeCommand,
  UnsubscribeCommand,
} = requirePackage<typeof Sdk>('@aws-sdk/client-sns', 'a topic')

export type PublishBatchCommand = Sdk.PublishBatchCommand
export type SNSClient = Sdk.SNSClient
