import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Check,
  type CheckResult,
  clockResult,
  latencyResult,
  ok,
  problem,
  reasonOf,
  skipped,
  warning,
} from '../../../core/diagnosis.js'
import { readIdentity } from '../allowlist/adoption.js'
import { STORE_KEY } from '../allowlist/items.js'
import { UNSERVED, type UnservedRow } from '../allowlist/scan-facts.js'
import { judgedPages, UnservedRows } from '../allowlist/unserved.js'
import { Freshness } from '../feed/freshness.js'
import type { StreamTable } from '../feed/stream-records.js'
import { monthlyCost } from '../spending.js'
import type { DynamodbFacts } from './context.js'

const READS = 20
/** A running relay processes a probe within a second or two. */
const PATIENCE_MS = 6000
const POLL_MS = 250
const ROWS_NAMED = 5

const isThere = ({ tables }: DynamodbFacts, role: string): boolean =>
  tables.some((table) => table.role === role && table.status !== 'MISSING')

const clockCheck: Check<DynamodbFacts> = {
  id: 'dynamodb.clock',
  expects: 'The clocks of this machine and of DynamoDB differ by less than a second.',
  remedy: 'Synchronize this machine with a time server (NTP): leases, probes and expiry depend on its clock.',
  run({ serverClock }) {
    const bounds = serverClock.known
    if (bounds === undefined) return skipped('no response had the time')
    return clockResult((bounds.lowMs + bounds.highMs) / 2, (bounds.highMs - bounds.lowMs) / 2)
  },
}

const latencyCheck: Check<DynamodbFacts> = {
  id: 'dynamodb.latency',
  expects: 'A read is answered in less than 10 ms.',
  remedy: 'Run in the region of the tables, with a VPC endpoint; look for throttling.',
  async run(context) {
    if (!isThere(context, 'allowlists')) return skipped('there is no table')
    const { client, url } = context
    const tookMs: number[] = []
    // The first read opens the connection.
    for (let i = 0; i <= READS; i++) {
      const begunMs = performance.now()
      await client.getItem('health', { TableName: url.tables.allowlists, Key: STORE_KEY })
      if (i > 0) tookMs.push(performance.now() - begunMs)
    }
    return latencyResult('GetItem', tookMs)
  },
}

const rowsCheck: Check<DynamodbFacts> = {
  id: 'dynamodb.rows',
  expects: 'Checks find every row that other programs have written.',
  remedy: 'catraca dynamodb adopt lists each row that they do not find, and what to do about it.',
  async run(context) {
    if (!context.hasAllowlists) return skipped('no allowlists are kept here')
    if (!isThere(context, 'allowlists')) return skipped('there is no table')
    const { client, url } = context
    const TableName = url.tables.allowlists
    const store = await client.getItem('health', { TableName, Key: STORE_KEY, ConsistentRead: true })
    const counted = store === undefined ? 0 : (readIdentity(store).unserved ?? 0)
    const unserved = new UnservedRows(client, url.tables)
    const named: CheckResult[] = []
    let scanned = 0
    for (const table of (['allowlists', 'giant'] as const).filter((role) => isThere(context, role))) {
      // Only the first page of each, of a megabyte: reading a large table completely would cost money and time.
      const { value: page } = await judgedPages(client, url.tables[table]).next()
      const rows = await unserved.among(page?.items ?? [], table)
      named.push(...rows.slice(0, ROWS_NAMED).map(unservedRow))
      scanned += page?.scanned ?? 0
    }
    if (named.length > 0) return named
    if (counted > 0)
      return warning(`the last scan of the tables found ${counted} rows that checks do not find`)
    return ok(`checks find all of ${scanned} scanned rows`)
  },
}

const unservedRow = ({ table, partition, sort, why }: UnservedRow): CheckResult =>
  warning(`${table} ${partition} ${sort}: ${UNSERVED[why]}`)

const feedCheck: Check<DynamodbFacts> = {
  id: 'dynamodb.feed',
  expects: 'A relay, or the Lambda, copies writes from the streams into the change logs.',
  remedy: 'Start `catraca relay`, or repair the Lambda: until then every check reads the table.',
  async run(context) {
    if (!context.hasAllowlists) return skipped('no allowlists are kept here')
    if (context.probeIntervalMs === 0) return skipped('dynamodb.probeIntervalMs is 0')
    const streams: StreamTable[] = ['allowlists', 'giant']
    const present = streams.filter((role) => isThere(context, role))
    if (present.length === 0) return skipped('there is no table')
    return Promise.all(present.map((table) => lookAtFeed(context, table)))
  },
}

/** Sends a probe through the stream, as every pod does, and waits until it arrives. */
async function lookAtFeed(
  { client, url, now, probeIntervalMs }: DynamodbFacts,
  table: StreamTable,
): Promise<CheckResult> {
  const freshness = new Freshness({ client, tables: url.tables, now, probeIntervalMs })
  const begunAt = now()
  const endsMs = performance.now() + PATIENCE_MS
  for (;;) {
    const ageMs = await freshness.ageMs(table)
    const tookMs = Math.max(0, now() - begunAt)
    if (ageMs < tookMs + probeIntervalMs) return ok(`${table}: behind by ${Math.round(ageMs)} ms`)
    if (performance.now() > endsMs) {
      const age = Number.isFinite(ageMs)
        ? `the change logs are behind by ${Math.round(ageMs)} ms`
        : 'no write has ever arrived in the change logs'
      return problem(`${table}: ${age}`)
    }
    await sleep(POLL_MS)
  }
}

const queueCheck: Check<DynamodbFacts> = {
  id: 'dynamodb.queues',
  expects: 'With a topic, every pod has a queue on it.',
  remedy:
    'Correct `dynamodb.topicArn` and the permissions for SNS and SQS; pods create their queues when they start.',
  async run({ topicArn, queues }) {
    if (topicArn === undefined) return skipped('no dynamodb.topicArn: pods poll every second')
    try {
      // Only with a topic: it loads two more packages of AWS.
      const { countPodQueues } = await import('./pod-queues.js')
      const pods = await countPodQueues(topicArn, queues)
      return pods === 0
        ? warning('no pod has a queue on the topic')
        : ok(`${pods} pods have a queue on the topic`)
    } catch (error) {
      return problem(`the topic cannot be read: ${reasonOf(error)}`)
    }
  },
}

const costCheck: Check<DynamodbFacts> = {
  id: 'dynamodb.cost',
  expects: 'Pods and relays tell in the store how many units they use.',
  remedy: 'See docs/cost.md: profiles, fewer pods, adds together, provisioned capacity.',
  async run(context) {
    if (!isThere(context, 'guards')) return skipped('there is no table')
    const { client, url, now } = context
    const cost = await monthlyCost(client, url.tables.guards, now())
    if (cost === undefined) return skipped('no process has run for five minutes')
    const { processes, readUnitsPerSecond, writeUnitsPerSecond, dollars } = cost
    const use = `${readUnitsPerSecond} read and ${writeUnitsPerSecond} write units a second`
    return ok(`about ${dollars} dollars a month: ${processes} processes use ${use}`)
  },
}

/** How it works at this moment. */
export const RUNNING_CHECKS = [clockCheck, latencyCheck, rowsCheck, feedCheck, queueCheck, costCheck]
