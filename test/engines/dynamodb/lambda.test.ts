import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { CreateTopicCommand, SNSClient, SubscribeCommand } from '@aws-sdk/client-sns'
import { CreateQueueCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import type { BatchAnswer, StreamEvent } from '../../../deploy/lambda/stream-processor/handler.js'
import { customer } from '../../../src/conformance/support.js'
import { metaKey } from '../../../src/engines/dynamodb/allowlist/items.js'
import type { StreamRecord } from '../../../src/engines/dynamodb/feed/stream-records.js'
import type { ListRef } from '../../../src/guards/allowlist/changes/port.js'
import { BEGINNING, openFeed, wordsOf } from '../../support/dynamodb-feed.js'
import { startQueues } from '../../support/dynamodb-queues.js'
import { CREDENTIALS_ENV, REGION, startDynamo } from '../../support/dynamodb-server.js'

const BUNDLE = new URL('../../../lambda/stream-processor/index.mjs', import.meta.url).href
const SALT = '00112233445566778899aabbccddeeff'

describe('the stream processor for AWS Lambda, as it is bundled', async () => {
  const server = await startDynamo('dynoxide')
  const queues = await startQueues()
  const scene = await openFeed(server)
  const { core, log, store, tables } = scene
  const sns = new SNSClient(queues.clientOptions)
  const sqs = new SQSClient(queues.clientOptions)
  after(() => {
    for (const client of [sns, sqs]) client.destroy()
    scene.close()
  })
  const { TopicArn = '' } = await sns.send(new CreateTopicCommand({ Name: 'changes' }))
  const { QueueUrl = '' } = await sqs.send(new CreateQueueCommand({ QueueName: 'watcher' }))
  const Endpoint = `arn:aws:sqs:${REGION}:000000000000:watcher`
  await sns.send(new SubscribeCommand({ TopicArn, Protocol: 'sqs', Endpoint }))
  Object.assign(process.env, CREDENTIALS_ENV, {
    AWS_REGION: REGION,
    AWS_ENDPOINT_URL_DYNAMODB: server.endpoint,
    AWS_ENDPOINT_URL_SNS: queues.endpoint,
    ALLOWLISTS_TABLE: tables.allowlists,
    GIANT_TABLE: tables.giant,
    INVALIDATION_TOPIC: TopicArn,
  })
  const { handler } = (await import(BUNDLE)) as { handler(event: StreamEvent): Promise<BatchAnswer> }

  /** The records of the stream as Lambda hands them over: JSON. */
  const event = (records: StreamRecord[]): StreamEvent => {
    const Records = records.map(({ action, keys, before, after, sequence, table, isExpiry }) => ({
      eventName: action,
      eventSource: 'aws:dynamodb',
      eventSourceARN: `arn:aws:dynamodb:${REGION}:000000000000:table/${tables[table]}/stream/2026-01-15T12:00:00.000`,
      dynamodb: { SequenceNumber: sequence, Keys: keys, NewImage: after, OldImage: before },
      ...(isExpiry && { userIdentity: { type: 'Service', principalId: 'dynamodb.amazonaws.com' } }),
    }))
    return JSON.parse(JSON.stringify({ Records })) as StreamEvent
  }
  const newList = async (id: string): Promise<ListRef> => {
    const list = { id, name: id, type: 'FIXA', precision: 'exact', salt: SALT } as const
    const made = await core.lists.create(list, Date.now())
    return made.outcome === 'created' ? made.list : assert.fail(made.outcome)
  }
  const add = (id: string, i: number, expiresAt?: number) =>
    core.members.add(id, customer(i), expiresAt === undefined ? {} : { expiresAt }, Date.now())
  const received = async (): Promise<string[]> => {
    const types: string[] = []
    for (;;) {
      const { Messages = [] } = await sqs.send(
        new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }),
      )
      if (Messages.length === 0) return types
      for (const { Body = '' } of Messages) types.push(JSON.parse(JSON.parse(Body).Message).type)
    }
  }

  it('writes the logs and publishes, and again when it is given the same', async () => {
    const list = await newList('a')
    await add('a', 1)
    await core.members.remove('a', customer(1), Date.now())
    const batch = event(await scene.records())
    assert.deepEqual(await handler(batch), { batchItemFailures: [] })
    assert.deepEqual((await received()).toSorted(), ['ALLOWLIST_CHANGED', 'CUSTOMER_CHANGED'])
    assert.deepEqual(await handler(batch), { batchItemFailures: [] })
    const told = (await wordsOf(log, list, BEGINNING)).flat()
    assert.deepEqual([...new Set(told)], [`-${customer(1)}`])
  })

  it('counts a deletion by DynamoDB once', async () => {
    await newList('b')
    await add('b', 1, Date.now() + 3_600_000)
    await add('b', 2)
    await scene.drain()
    const Key = { PK: { S: 'ALLOWLIST#b' }, SK: { S: `CUSTOMER#${customer(1)}` } }
    await store.client.deleteItem('test', { TableName: tables.allowlists, Key })
    const deleted = (await scene.records()).map((record) => ({ ...record, isExpiry: true }))
    for (let i = 0; i < 2; i++) assert.deepEqual(await handler(event(deleted)), { batchItemFailures: [] })
    assert.equal((await core.lists.get('b'))!.customerCount, 1)
  })

  it('names the first record that failed, and keeps what did not', async () => {
    const [good, late] = [await newList('good'), await newList('late')]
    await newList('poison')
    await scene.drain()
    await add('good', 1)
    const meta = (await store.client.getItem('test', {
      TableName: tables.allowlists,
      Key: metaKey('poison'),
    }))!
    const put = (Item: typeof meta) => store.client.putItem('test', { TableName: tables.allowlists, Item })
    await put({ ...meta, type: { S: 'NEITHER' } })
    await add('late', 1)
    const records = await scene.records()
    const poison = records.find(({ keys }) => keys.PK?.S === 'ALLOWLIST#poison')!
    assert.deepEqual(await handler(event(records)), {
      batchItemFailures: [{ itemIdentifier: poison.sequence }],
    })
    for (const list of [good, late]) {
      assert.deepEqual(await wordsOf(log, list, BEGINNING), [[`+${customer(1)}`]])
    }
    // Lambda splits the batch, and comes again with the poison alone and with the rest.
    const at = records.indexOf(poison)
    assert.deepEqual(await handler(event(records.slice(at, at + 1))), {
      batchItemFailures: [{ itemIdentifier: poison.sequence }],
    })
    assert.deepEqual(await handler(event(records.slice(at + 1))), { batchItemFailures: [] })
  })

  it('has nothing to do with what is not ours', async () => {
    assert.deepEqual(await handler({ Records: [] }), { batchItemFailures: [] })
    const foreign = { eventName: 'INSERT', dynamodb: { SequenceNumber: '1', Keys: { id: { S: 'x' } } } }
    assert.deepEqual(await handler({ Records: [foreign] }), { batchItemFailures: [] })
  })
})
