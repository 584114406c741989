import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { customer } from '../../../src/conformance/support.js'
import { metaKey } from '../../../src/engines/dynamodb/allowlist/items.js'
import { FEED_PARTITION } from '../../../src/engines/dynamodb/feed/feed-items.js'
import { Freshness } from '../../../src/engines/dynamodb/feed/freshness.js'
import { NO_SINK } from '../../../src/engines/dynamodb/feed/messages.js'
import { Relay } from '../../../src/engines/dynamodb/feed/relay.js'
import type { ListRef } from '../../../src/guards/allowlist/changes/port.js'
import { BEGINNING, type FeedScene, openFeed, wordsOf } from '../../support/dynamodb-feed.js'
import {
  CREDENTIALS,
  CREDENTIALS_ENV,
  type DynamoServer,
  EMULATORS,
  REGION,
  startDynamo,
} from '../../support/dynamodb-server.js'

const PROCESS = fileURLToPath(new URL('../../support/dynamodb-relay-process.js', import.meta.url))
const SALT = '00112233445566778899aabbccddeeff'
const LEASE_MS = 900

async function newList({ core }: FeedScene, id: string): Promise<ListRef> {
  const list = { id, name: id, type: 'FIXA', precision: 'exact', salt: SALT } as const
  const made = await core.lists.create(list, Date.now())
  return made.outcome === 'created' ? made.list : assert.fail(made.outcome)
}

function newRelay(
  { store, tables }: FeedScene,
  server: DynamoServer,
  report?: (message: string) => void,
): Relay {
  return new Relay({
    client: store.client,
    streams: { region: REGION, endpoint: server.endpoint, credentials: CREDENTIALS },
    tables,
    sink: NO_SINK,
    leaseMs: LEASE_MS,
    pollMs: 10,
    ...(report !== undefined && { report }),
  })
}

/** Members as they follow from the log alone. */
async function replayed({ log }: FeedScene, list: ListRef): Promise<string[]> {
  const members = new Set<string>()
  for (const word of (await wordsOf(log, list, BEGINNING)).flat()) {
    if (word.startsWith('+')) members.add(word.slice(1))
    else members.delete(word.slice(1))
  }
  return [...members].toSorted()
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (const endsAt = Date.now() + 15_000; !(await holds()); ) {
    assert.ok(Date.now() < endsAt, what)
    await sleep(20)
  }
}

const followed = (scene: FeedScene, list: ListRef, expected: string[]): Promise<void> =>
  until(`the log tells of ${expected.length} members`, async () => {
    return String(await replayed(scene, list)) === String(expected.toSorted())
  })

for (const emulator of EMULATORS) {
  describe(`the relay on ${emulator}`, async () => {
    const server = await startDynamo(emulator)
    const scene = await openFeed(server)
    const { core, store, tables } = scene
    after(() => scene.close())
    const shardsOf = async (relays: Relay[]): Promise<number[]> => relays.map(({ shardCount }) => shardCount)

    it('reads every shard from its beginning, shares them, and goes on where it stopped', async () => {
      const lists = ['a', 'b', 'c', 'd', 'e', 'f']
      const refs = await Promise.all(lists.map((id) => newList(scene, id)))
      const add = (i: number) =>
        Promise.all(lists.map((id) => core.members.add(id, customer(i), {}, Date.now())))
      await add(1)
      const one = newRelay(scene, server)
      await one.start()
      for (const ref of refs) await followed(scene, ref, [customer(1)])
      const all = one.shardCount
      assert.ok(emulator === 'dynoxide' ? all === 2 : all >= 8, `${all} shards of two tables`)
      const two = newRelay(scene, server)
      await two.start()
      await until('both have their share', async () => {
        const [first = 0, second = 0] = await shardsOf([one, two])
        return first + second === all && Math.abs(first - second) <= 1
      })
      await add(2)
      for (const ref of refs) await followed(scene, ref, [customer(1), customer(2)])
      await one.stop()
      await until('the other one has all', async () => two.shardCount === all)
      await two.stop()
      const before = (await scene.log.position(refs[0]!))![0]!.sequence
      await add(3)
      const three = newRelay(scene, server)
      await three.start()
      for (const ref of refs) await followed(scene, ref, [customer(1), customer(2), customer(3)])
      assert.equal((await scene.log.position(refs[0]!))![0]!.sequence, before + 1, 'nothing was told again')
      await three.stop()
      assert.deepEqual(await relaysNoted(scene), [])
    })

    it('brings probes back, and none when a shard is not read', async () => {
      const fresh = new Freshness({ client: store.client, tables, now: Date.now, probeIntervalMs: 50 })
      assert.ok((await fresh.ageMs('allowlists')) > 0)
      const relay = newRelay(scene, server)
      await relay.start()
      await until('both streams are followed', async () => {
        const ages = [await fresh.ageMs('allowlists'), await fresh.ageMs('giant')]
        return ages.every((age) => age < 1000)
      })
      await relay.stop()
      await sleep(120)
      assert.ok((await fresh.ageMs('allowlists')) >= 100, 'nobody confirms any more')
    })

    it('buries what cannot be processed, and goes on', async () => {
      const list = await newList(scene, 'good')
      await newList(scene, 'bad')
      const reports: string[] = []
      const relay = newRelay(scene, server, (message) => reports.push(message))
      await store.client.putItem('test', {
        TableName: tables.allowlists,
        Item: { ...metaKey('bad'), type: { S: 'NEITHER' } },
      })
      await core.members.add('good', customer(1), {}, Date.now())
      await relay.start()
      await followed(scene, list, [customer(1)])
      await until('it is written down', async () =>
        (await feedItems(scene)).some((sk) => sk.startsWith('DEAD#')),
      )
      assert.ok(reports.some((message) => message.includes('bad')))
      await store.client.deleteItem('test', { TableName: tables.allowlists, Key: metaKey('bad') })
      await core.members.add('good', customer(2), {}, Date.now())
      await followed(scene, list, [customer(1), customer(2)])
      await relay.stop()
    })

    it('is taken over when it is killed in the middle', async () => {
      const list = await newList(scene, 'killed')
      const url = server.url(tables)
      const first = await startProcess(url)
      let stopped = false
      const expected = new Set<string>()
      const writing = (async () => {
        for (let i = 0; !stopped; i++) {
          const id = customer(i % 40)
          const isIn = expected.has(id)
          if (isIn) await core.members.remove('killed', id, Date.now())
          else await core.members.add('killed', id, {}, Date.now())
          if (isIn) expected.delete(id)
          else expected.add(id)
        }
      })()
      await until('the first one works', async () => (await scene.log.position(list))![0]!.sequence > 5)
      first.kill('SIGKILL')
      const second = await startProcess(url)
      await sleep(500)
      stopped = true
      await writing
      await followed(scene, list, [...expected])
      second.kill('SIGTERM')
      const [code] = (await once(second, 'exit')) as [number]
      assert.equal(code, 0)
    })
  })
}

async function startProcess(url: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [PROCESS, url, String(LEASE_MS)], {
    env: { ...process.env, ...CREDENTIALS_ENV },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  after(() => child.kill('SIGKILL'))
  await once(child.stdout!, 'data')
  return child
}

async function feedItems({ store, tables }: FeedScene): Promise<string[]> {
  const { items } = await store.client.query('test', {
    TableName: tables.allowlists,
    KeyConditionExpression: 'PK = :p',
    ExpressionAttributeValues: { ':p': { S: FEED_PARTITION } },
    ConsistentRead: true,
  })
  return items.map((item) => item.SK?.S ?? '')
}

const relaysNoted = async (scene: FeedScene): Promise<string[]> =>
  (await feedItems(scene)).filter((sk) => sk.startsWith('RELAY#'))
