import type * as Sdk from '@aws-sdk/client-dynamodb'
import { requirePackage } from '../../../core/packages.js'

export const {
  BatchExecuteStatementCommand,
  BatchGetItemCommand,
  BatchWriteItemCommand,
  CreateTableCommand,
  DeleteItemCommand,
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
  TransactWriteItemsCommand,
  UpdateContinuousBackupsCommand,
  UpdateItemCommand,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
} = requirePackage<typeof Sdk>('@aws-sdk/client-dynamodb', 'a dynamodb: store')

export type DynamoDBClient = Sdk.DynamoDBClient
