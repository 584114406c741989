import type * as Sdk from '@aws-sdk/client-dynamodb-streams'
import { requirePackage } from '../../../core/packages.js'

export const { DescribeStreamCommand, DynamoDBStreamsClient, GetRecordsCommand, GetShardIteratorCommand } =
  requirePackage<typeof Sdk>('@aws-sdk/client-dynamodb-streams', 'the relay')

export type DynamoDBStreamsClient = Sdk.DynamoDBStreamsClient
export type DescribeStreamCommand = Sdk.DescribeStreamCommand
