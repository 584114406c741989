import { createHash } from 'node:crypto'
import { readCustomerKey } from '../../../guards/allowlist/customer-key.js'
import type { ImportCheckpoint, MemberAttributes, SortedCustomers } from '../../../guards/allowlist/port.js'
import { shardOf } from '../../../guards/allowlist/shard.js'
import type { Argument } from '../link/redis.js'
import { attributesTail } from './attributes.js'

/** Limits of one script call, so that it does not block the server for long. */
const PART_ROWS = 500
const PART_BYTES = 128 * 1024
/** As in src/guards/allowlist/changes/entry.ts. */
const ADDED_LIKEWISE = 2

/** Rows of an import that belong to one shard, in the order of the run. */
export interface ShardRows {
  shard: number
  ids: string[]
  /** Their positions in the run. */
  places: number[]
}

/** The customers at these positions of a run, by shard. */
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

/** Some rows of a shard, in the form that scripts take. */
export interface Part {
  start: number
  end: number
  /** For each customer 02 length-1 key: the items of a log entry. */
  items: Buffer
  /** Ids, then for each row with attributes: position, tail if the customer is a member already, tail if not. */
  args: Argument[]
  /** The earliest expiry among them. */
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

  /** The attributes tail of a new customer whose row has none. */
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
    let end = start
    let keyBytes = 0
    let tailBytes = 0
    let firstExpiryAt = Number.POSITIVE_INFINITY
    while (end < ids.length && end - start < PART_ROWS && 2 * keyBytes + tailBytes < PART_BYTES) {
      const place = places[end]!
      keyBytes += this.run.end(place) - this.run.start(place)
      const attributes = this.run.attributes(place)
      if (attributes !== undefined) {
        const tails = [attributesTail(attributes), newTail(attributes, this.addedBy)]
        given.push(String(end - start + 1), ...tails)
        tailBytes += 2 * tails[1]!.length
        if (attributes.expiresAt !== undefined) firstExpiryAt = Math.min(firstExpiryAt, attributes.expiresAt)
      }
      end++
    }
    const items = this.items(start, end, keyBytes + 2 * (end - start))
    return { start, end, items, args: ids.slice(start, end).concat(given), firstExpiryAt }
  }

  private items(start: number, end: number, sizeBytes: number): Buffer {
    const { run } = this
    const { bytes } = run
    const items = Buffer.allocUnsafe(sizeBytes)
    let at = 0
    for (let i = start; i < end; i++) {
      const place = this.rows.places[i]!
      const keyEnd = run.end(place)
      let from = run.start(place)
      items[at++] = ADDED_LIKEWISE
      items[at++] = keyEnd - from - 1
      while (from < keyEnd) items[at++] = bytes[from++]!
    }
    return items
  }
}

const newTail = (attributes: MemberAttributes, addedBy: string | undefined): string =>
  attributesTail(addedBy === undefined ? attributes : { addedBy, ...attributes })

/** Identifies a batch: the same after a resume, and different from the batches before and after it. */
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
