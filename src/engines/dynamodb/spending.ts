import { randomUUID } from 'node:crypto'
import { every } from '../../core/timers.js'
import { number, optionalNumber } from './client/attributes.js'
import type { CapacityCounts } from './client/capacity.js'
import type { DynamoClient } from './client/client.js'
import { startingWith } from './client/key-ranges.js'
import { keyOf, PARTITION } from './keys.js'

/** What all processes together use now, and what that costs in a month. */
export interface MonthlyCost {
  /** Pods and relays that have told what they use. */
  processes: number
  readUnitsPerSecond: number
  writeUnitsPerSecond: number
  /** Of these units, on demand, at the list prices of us-east-1. Storage, streams and queues are not in it. */
  dollars: number
}

const PREFIX = 'SPENT#'
const VERB = 'spending'
const TELL_EVERY_MS = 300_000
/** Two intervals, and time to write: after it a process that died is left out. */
const TOLD_FOR_MS = 2 * TELL_EVERY_MS + 60_000
const SECONDS_A_MONTH = 30 * 86_400
/** Since November 2024. */
const DOLLARS_A_MILLION = { read: 0.125, write: 0.625 }

interface SpendingParts {
  client: DynamoClient
  /** That of guards, which has no stream. */
  table: string
  counts: CapacityCounts
  now: () => number
}

/** Tells in the store, every few minutes, how many units this process uses: one write unit each time. */
export class Spending {
  private readonly key = keyOf(PARTITION.following, PREFIX + randomUUID())
  private last: { at: number; read: number; write: number }
  private readonly timer: NodeJS.Timeout
  private hasTold = false

  constructor(private readonly parts: SpendingParts) {
    this.last = { at: parts.now(), ...totals(parts.counts) }
    // Who reads the figures sees that they are missing.
    this.timer = every(() => this.tell().catch(() => {}), TELL_EVERY_MS)
    this.timer.unref()
  }

  async tell(): Promise<void> {
    const { client, table, counts, now } = this.parts
    const { last } = this
    const next = { at: now(), ...totals(counts) }
    const seconds = (next.at - last.at) / 1000
    this.last = next
    if (seconds <= 0) return
    const Item = {
      ...this.key,
      at: number(next.at),
      read: number((next.read - last.read) / seconds),
      write: number((next.write - last.write) / seconds),
      ttl: number(Math.ceil((next.at + TOLD_FOR_MS) / 1000)),
    }
    this.hasTold = true
    await client.putItem(VERB, { TableName: table, Item })
  }

  async close(): Promise<void> {
    clearInterval(this.timer)
    const { client, table } = this.parts
    if (this.hasTold) await client.deleteItem(VERB, { TableName: table, Key: this.key }).catch(() => {})
  }
}

/** Undefined if no process has told anything: none has run for five minutes. */
export async function monthlyCost(
  client: DynamoClient,
  table: string,
  now: number,
): Promise<MonthlyCost | undefined> {
  const range = startingWith(PARTITION.following, PREFIX)
  const items = await client.queryAll(VERB, { TableName: table, ...range, ConsistentRead: false })
  const live = items.filter((item) => now - (optionalNumber(item, 'at') ?? 0) < TOLD_FOR_MS)
  if (live.length === 0) return undefined
  const sum = (name: string) => live.reduce((all, item) => all + (optionalNumber(item, name) ?? 0), 0)
  const [read, write] = [sum('read'), sum('write')]
  const dollars = (read * DOLLARS_A_MILLION.read + write * DOLLARS_A_MILLION.write) * (SECONDS_A_MONTH / 1e6)
  return {
    processes: live.length,
    readUnitsPerSecond: Math.round(read * 10) / 10,
    writeUnitsPerSecond: Math.round(write * 10) / 10,
    dollars: Math.round(dollars * 100) / 100,
  }
}

/** Health may be asked every second; the figures change every five minutes. */
export class CostReads {
  private last: { atMs: number; cost: MonthlyCost | undefined } | undefined

  constructor(private readonly ask: () => Promise<MonthlyCost | undefined>) {}

  async read(): Promise<MonthlyCost | undefined> {
    const nowMs = performance.now()
    if (this.last !== undefined && nowMs - this.last.atMs < TELL_EVERY_MS) return this.last.cost
    // A failure shows in what health itself reads.
    const cost = await this.ask().catch(() => undefined)
    this.last = { atMs: nowMs, cost }
    return cost
  }
}

/** A refused write costs at least one unit; DynamoDB does not say how much. */
function totals(counts: CapacityCounts): { read: number; write: number } {
  const sum = { read: 0, write: 0 }
  for (const { readUnits, writeUnits } of counts.rows()) {
    sum.read += readUnits
    sum.write += writeUnits
  }
  for (const { refused } of counts.retries()) sum.write += refused
  return sum
}
