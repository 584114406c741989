import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { CreateTopicCommand, ListSubscriptionsByTopicCommand, SNSClient } from '@aws-sdk/client-sns'
import {
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  ListQueuesCommand,
  SQSClient,
} from '@aws-sdk/client-sqs'
import { customer } from '../../../src/conformance/support.js'
import { sequenceSort } from '../../../src/engines/dynamodb/allowlist/items.js'
import { headKey } from '../../../src/engines/dynamodb/feed/feed-items.js'
import { PodQueue, type PodQueueOptions } from '../../../src/engines/dynamodb/feed/pod-queue.js'
import { Relay } from '../../../src/engines/dynamodb/feed/relay.js'
import { Topic } from '../../../src/engines/dynamodb/feed/topic.js'
import { keyOf } from '../../../src/engines/dynamodb/keys.js'
import type { ListRef } from '../../../src/guards/allowlist/changes/port.js'
import { openFeed } from '../../support/dynamodb-feed.js'
import { Pod } from '../../support/dynamodb-pod.js'
import { startQueues } from '../../support/dynamodb-queues.js'
import { CREDENTIALS, REGION, startDynamo } from '../../support/dynamodb-server.js'

const SALT = '00112233445566778899aabbccddeeff'
/** So long that only messages can be what woke a pod. */
const NEVER_MS = 3_600_000

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (const endsAt = Date.now() + 60_000; !(await holds()); ) {
    assert.ok(Date.now() < endsAt, what)
    await sleep(10)
  }
}

describe('pods that follow a table through topic and queues', async () => {
  const server = await startDynamo('dynoxide')
  const queues = await startQueues()
  const scene = await openFeed(server)
  const { core, store, tables, url } = scene
  const sns = new SNSClient(queues.clientOptions)
  const sqs = new SQSClient(queues.clientOptions)
  const { TopicArn: topicArn = '' } = await sns.send(new CreateTopicCommand({ Name: 'changes' }))
  const topic = new Topic(topicArn, queues.clientOptions)
  const newRelay = () =>
    new Relay({
      client: store.client,
      streams: { region: REGION, endpoint: server.endpoint, credentials: CREDENTIALS },
      tables,
      sink: topic,
      leaseMs: 900,
      pollMs: 10,
    })
  const relay = newRelay()
  await relay.start()
  const pods: Pod[] = []
  after(async () => {
    await Promise.all(pods.map((pod) => pod.stop()))
    await relay.stop()
    topic.close()
    for (const client of [sns, sqs]) client.destroy()
    scene.close()
  })
  const queue = (more: Partial<PodQueueOptions> = {}): PodQueueOptions => ({
    topicArn,
    clients: queues.clientOptions,
    ...more,
  })
  const startPod = async (list: ListRef, compareIntervalMs: number, withQueue = true): Promise<Pod> => {
    const pod = await Pod.start({ url, list, compareIntervalMs, ...(withQueue && { queue: queue() }) })
    pods.push(pod)
    return pod
  }
  let lists = 0
  const newList = async (): Promise<ListRef> => {
    const list = { id: `list-${lists++}`, name: 'x', type: 'FIXA', precision: 'exact', salt: SALT } as const
    const made = await core.lists.create(list, Date.now())
    return made.outcome === 'created' ? made.list : assert.fail(made.outcome)
  }
  const add = ({ id }: ListRef, i: number) => core.members.add(id, customer(i), {}, Date.now())
  const remove = ({ id }: ListRef, i: number) => core.members.remove(id, customer(i), Date.now())
  const hold = (pod: Pod, numbers: number[]): Promise<void> => {
    const expected = numbers.map(customer).toSorted()
    return until(`a pod holds ${numbers}`, () => String([...pod.members()].toSorted()) === String(expected))
  }
  const queueUrls = async () => (await sqs.send(new ListQueuesCommand({}))).QueueUrls ?? []

  it('see every change at once, also those that began in the middle', async () => {
    const list = await newList()
    await add(list, 0)
    const four = await Promise.all([1, 2, 3, 4].map(() => startPod(list, NEVER_MS)))
    for (let i = 1; i < 12; i++) await add(list, i)
    for (let i = 0; i < 6; i++) await remove(list, i)
    for (const pod of four) await hold(pod, [6, 7, 8, 9, 10, 11])
    const late = await startPod(list, NEVER_MS)
    await add(list, 20)
    for (const pod of [...four, late]) await hold(pod, [6, 7, 8, 9, 10, 11, 20])
    assert.deepEqual(
      four.map(({ loads }) => loads),
      [1, 1, 1, 1],
    )
  })

  it('know how old their knowledge is, and that nobody relays', async () => {
    const list = await newList()
    const pod = await startPod(list, 50, false)
    await until('it is fresh', () => pod.ageMs < 1500)
    await relay.stop()
    await until('its knowledge grows old', () => pod.ageMs > 2000)
    const again = newRelay()
    await again.start()
    relay.stop = () => again.stop()
    await until('it is fresh again', () => pod.ageMs < 1500)
  })

  it('end exact when messages are lost, and when the queue is', async () => {
    const list = await newList()
    const before = new Set(await queueUrls())
    const [deaf, other] = [await startPod(list, 100), await startPod(list, NEVER_MS)]
    const own = (await queueUrls()).filter((one) => !before.has(one))
    const subscriptions = async () =>
      (await sns.send(new ListSubscriptionsByTopicCommand({ TopicArn: topicArn }))).Subscriptions ?? []
    for (const QueueUrl of own) await sqs.send(new DeleteQueueCommand({ QueueUrl }))
    await add(list, 1)
    await hold(deaf, [1])
    await until('new queues are made', async () => {
      return (await queueUrls()).filter((one) => !before.has(one) && !own.includes(one)).length === 2
    })
    await hold(other, [1])
    await add(list, 2)
    await hold(other, [1, 2])
    await hold(deaf, [1, 2])
    assert.ok((await subscriptions()).length > 0)
  })

  it('load the list anew when the log no longer reaches back to them', async () => {
    const list = await newList()
    const pod = await startPod(list, 50, false)
    const TableName = tables.allowlists
    const log = { list, layout: 0, shard: 0 }
    for (let i = 0; i < 5; i++) await add(list, i)
    await hold(pod, [0, 1, 2, 3, 4])
    await pod.stop()
    pods.splice(pods.indexOf(pod), 1)
    const slow = await startPod(list, NEVER_MS, false)
    const head = async () =>
      Number(
        (await store.client.getItem('test', { TableName, Key: headKey(log), ConsistentRead: true }))?.sequence
          ?.N,
      )
    const last = await head()
    for (let i = 5; i < 7; i++) await add(list, i)
    await until('they are told', async () => (await head()) > last)
    // In an entry of its own: of those before it, none is left.
    const told = await head()
    await add(list, 7)
    await until('that is told too', async () => (await head()) > told)
    for (let sequence = 1; sequence < (await head()); sequence++) {
      const Key = keyOf(headKey(log).PK.S, sequenceSort(sequence))
      await store.client.deleteItem('test', { TableName, Key })
    }
    slow.catchUp()
    await hold(slow, [0, 1, 2, 3, 4, 5, 6, 7])
    assert.equal(slow.loads, 2)
  })

  it('take their queues with them, and those of pods that were killed', async () => {
    // The clock of the sweeper is hours ahead: it would take the queues of those that live too, and they make new ones.
    await Promise.all(pods.splice(0).map((pod) => pod.stop()))
    const start = await queueUrls()
    const made = async () => (await queueUrls()).filter((one) => !start.includes(one))
    let now = Date.now()
    // It is never closed, and gives no sign of life any more: as good as killed.
    const dead = await PodQueue.open(queue({ now: () => now, heartbeatMs: NEVER_MS }))
    assert.equal((await made()).length, 1)
    const [deadUrl] = await made()
    const asked = { QueueUrl: deadUrl, AttributeNames: ['All' as const] }
    const { Policy = '', QueueArn = '' } =
      (await sqs.send(new GetQueueAttributesCommand(asked))).Attributes ?? {}
    const template = readFileSync(
      new URL('../../../../deploy/pod-queue-policy.json', import.meta.url),
      'utf8',
    )
    const expected = template.replace('QUEUE_ARN', QueueArn).replace('TOPIC_ARN', topicArn)
    assert.deepEqual(JSON.parse(Policy), JSON.parse(expected))
    const young = await PodQueue.open(queue({ now: () => now }))
    assert.equal((await made()).length, 2, 'the other one may yet live')
    now += 2 * 3_600_000
    const sweeper = await PodQueue.open(queue({ now: () => now, orphanAfterMs: 3_600_000 }))
    await until('it is swept', async () => !(await made()).includes(deadUrl!))
    const { Subscriptions = [] } = await sns.send(new ListSubscriptionsByTopicCommand({ TopicArn: topicArn }))
    assert.ok(!Subscriptions.some(({ Endpoint }) => Endpoint === QueueArn))
    for (const one of [sweeper, young, dead]) await one.close()
    await until('none is left', async () => (await made()).length === 0)
  })
})
