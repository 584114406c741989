import { createHash } from 'node:crypto'
import { readCustomerKey } from '../../allowlist/customer-key.js'
import type { ImportCheckpoint, MemberAttributes, SortedCustomers } from '../../allowlist/port.js'
import { shardOf } from '../../allowlist/shard.js'
import { attributesTail } from './attributes.js'
import type { Argument } from './redis.js'

/** A script must not hold up the server for long. */
const PART_ROWS = 500
const PART_BYTES = 128 * 1024

/** Rows of an import that belong to one shard, in the order of the run. */
export interface ShardRows {
  shard: number
  ids: string[]
  /** Their places in the run. */
  places: number[]
}

/** The customers at these places of a run by shard. */
export function rowsByShard(run: SortedCustomers, places: Iterable<number>, shards: number): ShardRows[] {
  const rows = Array.from({ length: shards }, (_, shard): ShardRows => ({ shard, ids: [], places: [] }))
  for (const place of places) {
    const id = readCustomerKey(run.bytes, run.start(place), run.end(place))
    const part = rows[shardOf(id, shards)]!
    part.ids.push(id)
    part.places.push(place)
  }
  return rows.filter(({ ids }) => ids.length > 0)
}

export function* placesFrom(from: number, to: number): Generator<number> {
  for (let place = from; place < to; place++) yield place
}

/** Some rows of a shard, as scripts take them. */
export interface Part {
  start: number
  end: number
  /** For each customer 02 length-1 key: items of a log entry. */
  items: Buffer
  /** Ids, then for each row that says something: place, tail if the customer is there already, tail if not. */
  args: Argument[]
  /** The earliest end of a membership among them. */
  firstExpiryAt: number
}

/** Cuts the rows of one shard into parts. */
export class Parts {
  private readonly bareTail: string

  constructor(
    private readonly run: SortedCustomers,
    private readonly rows: ShardRows,
    private readonly addedBy: string | undefined,
  ) {
    this.bareTail = newTail({}, addedBy)
  }

  /** The tail of the attributes of a new customer of which the row says nothing. */
  get tail(): string {
    return this.bareTail
  }

  get count(): number {
    return this.rows.ids.length
  }

  ids(start: number, end: number): string[] {
    return this.rows.ids.slice(start, end)
  }

  cut(start: number): Part {
    const { ids, places } = this.rows
    const given: string[] = []
    const keys: Uint8Array[] = []
    let end = start
    let bytes = 0
    let firstExpiryAt = Number.POSITIVE_INFINITY
    while (end < ids.length && end - start < PART_ROWS && bytes < PART_BYTES) {
      const place = places[end]!
      const key = this.run.bytes.subarray(this.run.start(place), this.run.end(place))
      keys.push(Uint8Array.of(2, key.length - 1), key)
      bytes += 2 * key.length
      const attributes = this.run.attributes(place)
      if (attributes !== undefined) {
        const tails = [attributesTail(attributes), newTail(attributes, this.addedBy)]
        given.push(String(end - start + 1), ...tails)
        bytes += 2 * tails[1]!.length
        if (attributes.expiresAt !== undefined) firstExpiryAt = Math.min(firstExpiryAt, attributes.expiresAt)
      }
      end++
    }
    return {
      start,
      end,
      items: Buffer.concat(keys),
      args: [...ids.slice(start, end), ...given],
      firstExpiryAt,
    }
  }
}

const newTail = (attributes: MemberAttributes, addedBy: string | undefined): string =>
  attributesTail(addedBy === undefined ? attributes : { addedBy, ...attributes })

/** Names a batch: the same after a resume, and another one for what comes before and behind it. */
export function batchKey(
  run: SortedCustomers,
  from: number,
  to: number,
  untouched: ImportCheckpoint,
): string {
  const hash = createHash('sha1').update(`${JSON.stringify(untouched)} ${to - from}`)
  for (const place of [from, to - 1]) hash.update(run.bytes.subarray(run.start(place), run.end(place)))
  return hash.digest('hex')
}
