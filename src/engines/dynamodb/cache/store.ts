import { randomUUID } from 'node:crypto'
import type { Listing, ListingRequest } from '../../../core/listing.js'
import { listedEntry } from '../../../guards/cache/listed-entry.js'
import type {
  CacheItem,
  CacheNotice,
  CacheStore,
  FilledItem,
  ListedEntry,
  StoreOutcome,
} from '../../../guards/cache/port.js'
import { number } from '../client/attributes.js'
import { scanPrefix } from '../client/scan-prefix.js'
import { MAX_ITEM_BYTES } from '../client/sizes.js'
import { ENTRY_ATTRIBUTES, entryAttributes, readEntry } from './entry-items.js'
import { Fills } from './fills.js'
import { entryKey, entryPrefix } from './keys.js'
import { fetchMarks, type Marks, markCleared, markTag } from './marks.js'
import type { CacheNotices } from './notices.js'
import { Reads } from './reads.js'
import type { CacheTable } from './table.js'

/** Reserved for attribute names, tags and the rest of an item. */
const AROUND_VALUE_BYTES = 20 * 1024

/** The second cache tier in DynamoDB: one item per key. */
export class DynamodbCache implements CacheStore {
  readonly maxValueBytes = MAX_ITEM_BYTES - AROUND_VALUE_BYTES
  private readonly reads: Reads
  private readonly fills: Fills

  constructor(
    private readonly guards: CacheTable,
    private readonly notices: CacheNotices,
  ) {
    this.reads = new Reads(guards)
    this.fills = new Fills(guards)
  }

  async read(...[space, keys, now]: Parameters<CacheStore['read']>) {
    const { items, marks } = await this.reads.read(space, keys)
    const at = this.guards.at(now)
    return keys.map((key) => readEntry(items.get(key), marks, at))
  }

  async list(space: string, request: ListingRequest, now: number): Promise<Listing<ListedEntry>> {
    const { client, table } = this.guards
    const start = entryPrefix(space)
    const scanned = { table, key: ['PK', 'SK'], sort: 'ENTRY', attributes: ENTRY_ATTRIBUTES }
    const wanted = { ...request, prefix: start + request.prefix }
    const { items, ...next } = await scanPrefix(client, 'cache.list', scanned, wanted)
    const marks = await fetchMarks(this.guards, space)
    const entries = items.flatMap((item): ListedEntry[] => {
      const entry = readEntry(item, marks, this.guards.at(now))
      return entry === undefined ? [] : [listedEntry(item.PK!.S!.slice(start.length), entry)]
    })
    return { items: entries, ...next }
  }

  async begin(...[space, keys, claim, now]: Parameters<CacheStore['begin']>) {
    const { items, marks } = await this.reads.read(space, keys)
    const at = this.guards.at(now)
    return Promise.all(
      keys.map((key) => this.fills.begin(space, key, { item: items.get(key), marks }, claim, at)),
    )
  }

  async store(space: string, fills: readonly FilledItem[], now: number): Promise<readonly StoreOutcome[]> {
    const marks = await fetchMarks(this.guards, space)
    const at = this.guards.at(now)
    const outcomes = await Promise.all(fills.map((fill) => this.fills.store(space, fill, marks, at)))
    const changed = fills.filter(({ isChange }, i) => isChange && outcomes[i] === 'stored')
    await this.tell(
      space,
      changed.map(({ key }) => key),
    )
    return outcomes
  }

  renew(...[space, keys, lease, now]: Parameters<CacheStore['renew']>) {
    const at = this.guards.at(now)
    return Promise.all(keys.map((key) => this.fills.renew(space, key, lease, at)))
  }

  async release(space: string, keys: readonly string[], token: string): Promise<void> {
    await Promise.all(keys.map((key) => this.fills.release(space, key, token)))
  }

  async write(space: string, items: readonly CacheItem[], now: number): Promise<void> {
    const { version } = await fetchMarks(this.guards, space)
    const at = this.guards.at(now)
    const { client, table } = this.guards
    const last = new Map(items.map((item) => [item.key, item]))
    const puts = Array.from(last.values(), (item) => ({
      ...entryKey(space, item.key),
      ...entryAttributes(item, randomUUID(), at),
      version: number(version),
    }))
    const [only] = puts
    if (puts.length === 1) await client.putItem('cache.write', { TableName: table, Item: only! })
    else
      await client.batchWrite(
        'cache.write',
        puts.map((put) => ({ table, put })),
      )
    await this.tell(space, [...last.keys()])
  }

  async remove(space: string, keys: readonly string[], now: number): Promise<readonly boolean[]> {
    const marks = await fetchMarks(this.guards, space)
    const at = this.guards.at(now)
    const unique = [...new Set(keys)]
    const removed = await Promise.all(unique.map((key) => this.removeOne(space, key, marks, at)))
    await this.tell(space, unique)
    return keys.map((key, i) => removed[unique.indexOf(key)]! && keys.indexOf(key) === i)
  }

  private async removeOne(space: string, key: string, marks: Marks, now: number): Promise<boolean> {
    const { client, table: TableName } = this.guards
    const input = { TableName, Key: entryKey(space, key), ReturnValues: 'ALL_OLD' as const }
    const { item } = await client.deleteItem('cache.remove', input)
    return readEntry(item, marks, now) !== undefined
  }

  async expire(space: string, keys: readonly string[], keepMs: number, now: number): Promise<void> {
    const until = this.guards.at(now) + keepMs
    const unique = [...new Set(keys)]
    await Promise.all(unique.map((key) => this.fills.endBy(space, key, until)))
    await this.tell(space, unique)
  }

  async removeTag(space: string, tag: string): Promise<void> {
    await markTag(this.guards, space, tag)
    await this.notices.tell({ kind: 'tag', space, tag })
  }

  async clear(space: string): Promise<void> {
    await markCleared(this.guards, space)
    await this.notices.tell({ kind: 'cleared', space })
  }

  watch(listener: (notice: CacheNotice) => void): () => void {
    return this.notices.watch(listener)
  }

  /** TTL deletes expired items. */
  async sweep(): Promise<{ more: boolean }> {
    return { more: false }
  }

  close(): Promise<void> {
    return this.notices.close()
  }

  private async tell(space: string, keys: readonly string[]): Promise<void> {
    if (keys.length > 0) await this.notices.tell({ kind: 'changed', space, keys })
  }
}
