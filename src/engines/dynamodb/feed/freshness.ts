import { number, optionalNumber } from '../client/attributes.js'
import type { DynamoClient } from '../client/client.js'
import { when } from '../client/expression.js'
import { FEED_HEAD_KEY, PROBE_KEY } from './feed-items.js'
import { WATERMARKS } from './sequencer.js'
import type { StreamTable } from './stream-records.js'

interface FreshnessOptions {
  client: DynamoClient
  tables: Record<StreamTable, string>
  now: () => number
  /** How often, over all pods, a probe is sent through the stream. 0: never; the logs are assumed to be complete. */
  probeIntervalMs: number
}

const DUE_AT = 0.9

/**
 * How far the logs are behind the table. It does not rely on a relay to be running: it writes a probe into the table.
 * When the probe has come through the stream, everything written before it is in the logs.
 */
export class Freshness {
  private readonly looks = new Map<StreamTable, { atMs: number; until: Promise<number> }>()

  constructor(private readonly options: FreshnessOptions) {}

  /** The age of the logs for members in this table. One read serves all lists for a while. */
  async ageMs(table: StreamTable): Promise<number> {
    const { probeIntervalMs, now } = this.options
    const at = now()
    return probeIntervalMs === 0 ? 0 : Math.max(0, at - (await this.until(table)))
  }

  /** The time up to which the logs are complete, by the clocks of pods. */
  async until(table: StreamTable): Promise<number> {
    const { probeIntervalMs, now } = this.options
    const at = now()
    const last = this.looks.get(table)
    const isRecent = last !== undefined && Math.abs(at - last.atMs) < probeIntervalMs / 4
    const until = isRecent ? last.until : this.look(table)
    if (!isRecent) {
      this.looks.set(table, { atMs: at, until })
      until.catch(() => this.looks.delete(table))
    }
    return until
  }

  private async look(table: StreamTable): Promise<number> {
    const { client, tables, now, probeIntervalMs } = this.options
    const read = (name: string, keys: (typeof PROBE_KEY)[]) =>
      client.batchGetItem('feed.probe', { table: name, keys, consistent: true })
    const isMain = table === 'allowlists'
    const [main, other] = await Promise.all([
      read(tables.allowlists, isMain ? [PROBE_KEY, FEED_HEAD_KEY] : [FEED_HEAD_KEY]),
      isMain ? [] : read(tables.giant, [PROBE_KEY]),
    ])
    const find = ({ SK }: typeof PROBE_KEY) => [...main, ...other].find((item) => item.SK?.S === SK.S)
    const [probe, head] = [find(PROBE_KEY), find(FEED_HEAD_KEY)]
    const sentAt = probe && optionalNumber(probe, 'at')
    const at = now()
    // A pod reads about once per interval, sometimes a little early: early must not delay the probe by a whole
    // interval. A pod whose clock is ahead must not prevent the others from sending.
    const isDue = sentAt === undefined || Math.abs(at - sentAt) >= DUE_AT * probeIntervalMs
    if (isDue) await this.send(table, at, sentAt)
    return (head && optionalNumber(head, WATERMARKS[table])) ?? Number.NEGATIVE_INFINITY
  }

  /** Of the pods that find it due, the first one sends. */
  private async send(table: StreamTable, at: number, last: number | undefined): Promise<void> {
    const { client, tables } = this.options
    const isDue = when((expression) => expression.equals('at', last === undefined ? undefined : number(last)))
    const Item = { ...PROBE_KEY, at: number(at) }
    await client.putItem('feed.probe', { TableName: tables[table], Item, ...isDue })
  }
}
