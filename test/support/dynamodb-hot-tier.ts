import assert from 'node:assert/strict'
import { after, afterEach } from 'node:test'
import type { Catraca, OpenOptions } from '../../src/app/open-catraca.js'
import { newFixa } from '../../src/conformance/support.js'
import type { CapacityUse } from '../../src/engines/dynamodb/client/options.js'
import { NO_SINK } from '../../src/engines/dynamodb/feed/messages.js'
import { Sequencer } from '../../src/engines/dynamodb/feed/sequencer.js'
import type { DynamodbEngine } from '../../src/engines/dynamodb/index.js'
import type { CheckOptions, CheckReason } from '../../src/guards/allowlist/types.js'
import { makeTables } from './dynamodb-engine.js'
import { StreamDrain } from './dynamodb-feed.js'
import { CREDENTIALS, type DynamoServer } from './dynamodb-server.js'
import { openPatiently } from './patient.js'
import { type RedisServers, until } from './redis/index.js'

/** A process with the hot tier in front of its store. */
export interface HotPod {
  catraca: Catraca
  reports: string[]
  /** Confirmations that were asked of the table. */
  readonly asked: number
  check(customerId: string, options?: CheckOptions): Promise<CheckReason>
}

interface HotScene {
  writer: DynamodbEngine
  /** Has everything told by the logs that was written before. */
  told(): Promise<void>
  newList(...members: string[]): Promise<string>
  pod(listId: string, options?: HotPodOptions): Promise<HotPod>
  raw(...args: string[]): Promise<unknown>
  /** The set of the list is whole and fresh. */
  fresh(listId: string): Promise<void>
}

interface HotPodOptions extends Omit<OpenOptions, 'store' | 'dynamodb'> {
  probeIntervalMs?: number
  leaseMs?: number
  commandTimeoutMs?: number
  checkTimeoutMs?: number
}

/** Often, so that tests wait for nothing. */
const INTERVAL_MS = 20

/** Tables, a writer, a sequencer that works only when it is told to, and pods in front of which Redis stands. */
export async function openHotScene(
  server: DynamoServer,
  redis: RedisServers,
  defaults: HotPodOptions = {},
): Promise<HotScene> {
  const tables = await makeTables(server)
  const writer = await tables.open()
  const sequencer = new Sequencer({
    client: tables.client,
    tables: tables.names,
    sink: NO_SINK,
    now: Date.now,
  })
  const drain = new StreamDrain(server.endpoint, tables.client, tables.names, async (records) => {
    assert.deepEqual(await sequencer.process(records), [])
  })
  const pods: Catraca[] = []
  afterEach(async () => {
    await Promise.all(pods.splice(0).map((pod) => pod.close()))
  })
  after(async () => {
    drain.streams.destroy()
    await writer.close()
    await redis.stop()
  })
  let lists = 0
  const raw = (...args: string[]): Promise<unknown> => redis.servers[0]!.say(...args)
  return {
    writer,
    raw,
    async told() {
      await drain.drain()
    },
    async newList(...members) {
      const { id } = await newFixa(writer.allowlists, `list-${lists++}`)
      for (const member of members) await writer.allowlists.members.add(id, member, {}, Date.now())
      await drain.drain()
      return id
    },
    async pod(listId, given = {}) {
      const {
        probeIntervalMs = 0,
        leaseMs,
        commandTimeoutMs = 500,
        checkTimeoutMs,
        ...options
      } = { ...defaults, ...given }
      const reports: string[] = []
      let asked = 0
      const used = ({ verb }: CapacityUse) => void (asked += Number(verb === 'allowlist.check'))
      const tier = { url: redis.storeUrl, lists: [listId], redis: { commandTimeoutMs } }
      const catraca = await openPatiently({
        store: server.url(tables.names),
        sweepIntervalMs: 0,
        onReport: (message) => void reports.push(message),
        ...options,
        dynamodb: {
          credentials: CREDENTIALS,
          probeIntervalMs,
          counter: { used, refused() {}, retried() {} },
          hotTier: {
            ...tier,
            ...(leaseMs !== undefined && { leaseMs }),
            ...(checkTimeoutMs !== undefined && { checkTimeoutMs }),
          },
        },
        // Without an index every check is confirmed.
        membership: { maxBytes: 0, compareIntervalMs: INTERVAL_MS, ...options.membership },
      })
      pods.push(catraca)
      return {
        catraca,
        reports,
        get asked() {
          return asked
        },
        async check(customerId, how) {
          const { results } = await catraca.allowlists.check(customerId, [listId], how)
          return results[0]!.reason
        },
      }
    },
    fresh: (listId) =>
      until(`${listId} is fresh`, async () => (await raw('EXISTS', `{allowlist:${listId}}:hot:fresh`)) === 1),
  }
}
