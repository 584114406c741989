import { chunksOf } from '../../../core/chunks.js'
import type { Listing, ListingRequest } from '../../../core/listing.js'
import type {
  CacheItem,
  CacheNotice,
  CacheStore,
  CacheValue,
  FillClaim,
  FilledItem,
  FillStart,
  ListedEntry,
  StoredValue,
  StoreOutcome,
} from '../../../guards/cache/port.js'
import type { BatchForm } from '../link/batch-form.js'
import { foreign, isForeign, unlessForeign } from '../link/failures.js'
import type { Argument, Redis } from '../link/redis.js'
import { scanKeys } from '../link/scan-keys.js'
import { defineScript, type Script } from '../link/script.js'
import { clearSpace } from './clearing.js'
import { type EntryKeys, entryKeys, fillKey, NOTICES_KEY, valueKey } from './keys.js'
import type { CacheNotices } from './notices.js'
import { Tags, tagText } from './tags.js'

const MIB = 1024 * 1024
const TOLD_AT_ONCE = 500

/** Two results per key, one after the other. */
const pairs: BatchForm = {
  argsOf: () => [],
  resultsOf(reply) {
    const found = reply as unknown[]
    const results: unknown[] = []
    for (let from = 0; from < found.length; from += 2) results.push([found[from], found[from + 1]])
    return results
  },
}
const READ = defineScript('cache-read', {
  ...{ keys: 1, write: false, uses: ['cache-set'], form: pairs },
  // In this order, a value that is written in between counts as missing. It is never combined with the lifetime of
  // another value.
  alone: (key) => [
    ['PTTL', key],
    ['GET', key],
  ],
})
const BEGIN = defineScript('cache-begin', {
  keys: ['any', 'string'],
  write: true,
  uses: ['cache-lease', 'cache-set'],
})
const RENEW = defineScript('cache-renew', { keys: ['string'], write: true, uses: ['cache-lease'] })

/** One file, with the keys of the entry only, or also the key of the notice number, if it shares their slot. */
interface Change {
  alone: Script
  telling: Script
}

/** The first key may be a set: the scripts check it with `cache-set`. */
const ENTRY = ['any', 'string', 'string'] as const
const uses = ['cache-lease', 'cache-set', 'cache-value']
const change = (name: string): Change => ({
  alone: defineScript(name, { keys: ENTRY, write: true, uses }),
  telling: defineScript(name, { keys: [...ENTRY, 'string'], write: true, uses }),
})
const STORE = change('cache-store')
const WRITE = change('cache-write')
const REMOVE = change('cache-remove')
const EXPIRE = change('cache-expire')

type Read = [leftMs: number, value: Buffer | null]
type Begun = [state: Buffer, value?: Buffer | number, leftMs?: number]

/** The reply of PTTL for a missing key. */
const GONE = -2
const BINARY = { binary: true }

/** The second cache tier in Redis: plain values under plain keys. */
export class RedisCache implements CacheStore {
  readonly maxValueBytes = 16 * MIB
  private readonly tags: Tags

  constructor(
    private readonly redis: Redis,
    private readonly notices: CacheNotices,
  ) {
    this.tags = new Tags(redis, notices)
  }

  read(space: string, keys: readonly string[]): Promise<readonly (StoredValue | undefined)[]> {
    if (keys.length === 1) return this.readOne(space, keys[0]!).then((found) => [found])
    return Promise.all(keys.map((key) => this.readOne(space, key)))
  }

  /** Batched with all reads of the same event-loop turn. */
  private readOne(space: string, key: string): Promise<StoredValue | undefined> {
    return this.redis.run(READ, [valueKey(space, key)], [], BINARY).then(storedValue)
  }

  async begin(space: string, keys: readonly string[], claim: FillClaim): Promise<readonly FillStart[]> {
    const { token, leaseMs, freshAboveMs, takeOver } = claim
    const freshAbove = freshAboveMs === Number.POSITIVE_INFINITY ? '' : String(freshAboveMs)
    const args = [token, String(this.notices.known), String(leaseMs), freshAbove, takeOver ? '1' : '']
    const begun = keys.map((key) => {
      const value = valueKey(space, key)
      return this.redis.run(BEGIN, [value, fillKey(value)], args, BINARY)
    })
    return ((await Promise.all(begun)) as Begun[]).map(fillStart)
  }

  async store(space: string, fills: readonly FilledItem[]): Promise<readonly StoreOutcome[]> {
    const stored = await Promise.all(fills.map((fill) => this.storeOne(space, fill)))
    const unpublished = fills.filter(
      ({ isChange, key }, i) => stored[i] && isChange && !this.sharesSlotWithNotices(space, key),
    )
    await this.publish(space, unpublished)
    return stored.map((isStored) => (isStored ? 'stored' : 'void'))
  }

  private async storeOne(space: string, fill: FilledItem): Promise<boolean> {
    const mark = await this.tags.note(space, fill)
    const { token, key, value, lifeMs, tags, isChange } = fill
    const args = [token, String(mark), argumentOf(value), String(lifeMs), tagText(tags)]
    return (await this.change(STORE, space, key, args, isChange)) === 1
  }

  async renew(
    space: string,
    keys: readonly string[],
    { token, leaseMs }: { token: string; leaseMs: number },
  ): Promise<readonly boolean[]> {
    const renewed = keys.map((key) =>
      this.redis.run(RENEW, [fillKey(valueKey(space, key))], [token, String(leaseMs)]),
    )
    return (await Promise.all(renewed)).map((isRenewed) => isRenewed === 1)
  }

  async release(space: string, keys: readonly string[], token: string): Promise<void> {
    const released = keys.map((key) => this.redis.run(RENEW, [fillKey(valueKey(space, key))], [token, '']))
    await Promise.all(released)
  }

  async write(space: string, items: readonly CacheItem[]): Promise<void> {
    await Promise.all(items.map((item) => this.writeOne(space, item)))
    await this.publish(
      space,
      items.filter(({ key }) => !this.sharesSlotWithNotices(space, key)),
    )
  }

  private async writeOne(space: string, item: CacheItem): Promise<void> {
    const { key, value, lifeMs, tags } = item
    if (tags.length > 0) await this.tags.note(space, item)
    await this.change(WRITE, space, key, [argumentOf(value), String(lifeMs), tagText(tags)], true)
  }

  async remove(space: string, keys: readonly string[]): Promise<readonly boolean[]> {
    const removed = await Promise.all(keys.map((key) => this.change(REMOVE, space, key, [], true)))
    await this.publishSeparately(space, keys)
    return removed.map((count) => count === 1)
  }

  async expire(space: string, keys: readonly string[], keepMs: number): Promise<void> {
    await Promise.all(keys.map((key) => this.change(EXPIRE, space, key, [String(keepMs)], true)))
    await this.publishSeparately(space, keys)
  }

  async list(space: string, request: ListingRequest): Promise<Listing<ListedEntry>> {
    const start = valueKey(space, '')
    const pattern = `${valueKey(space, request.prefix)}*`
    const { items: keys, ...next } = await scanKeys(this.redis, pattern, request)
    const entries = await Promise.all(
      keys.map(async (key): Promise<ListedEntry[]> => {
        const left = (await this.redis.read(key, ['PTTL', key])) as number
        const sizeBytes = (await this.redis.read(key, ['STRLEN', key]).catch(unlessForeign)) as number
        if (left === -2 || sizeBytes === undefined) return []
        const leftMs = left === -1 ? Number.POSITIVE_INFINITY : left
        return [{ key: key.slice(start.length), leftMs, sizeBytes }]
      }),
    )
    return { items: entries.flat(), ...next }
  }

  removeTag(space: string, tag: string): Promise<void> {
    return this.tags.remove(space, tag)
  }

  clear(space: string): Promise<void> {
    return clearSpace(this.redis, this.notices, space)
  }

  watch(listener: (notice: CacheNotice) => void): () => void {
    return this.notices.watch(listener)
  }

  /** Entries expire. Leftovers of tags are cleaned up a little at a time. */
  async sweep(): Promise<{ more: boolean }> {
    await this.tags.trim()
    return { more: false }
  }

  close(): Promise<void> {
    return this.notices.close()
  }

  /** Whether one script can change the entry and publish the notice: always, except in a cluster. */
  private sharesSlotWithNotices(space: string, key: string): boolean {
    return this.redis.slot(valueKey(space, key)) === this.redis.slot(NOTICES_KEY)
  }

  private async change(
    { alone, telling }: Change,
    space: string,
    key: string,
    args: readonly Argument[],
    isTold: boolean,
  ): Promise<unknown> {
    const keys = keyList(entryKeys(space, key))
    try {
      if (!this.sharesSlotWithNotices(space, key)) return await this.redis.run(alone, keys, args)
      const notice = isTold ? this.notices.textOf({ kind: 'changed', space, keys: [key] }) : ''
      return await this.redis.run(telling, [...keys, NOTICES_KEY], [...args, this.notices.channel, notice])
    } catch (error) {
      // Without the key, which may name a person and must not get into logs.
      if (isForeign(error)) throw foreign(`${space}:…`, 'something other than an entry')
      throw error
    }
  }

  /** Publishes for those keys whose script could not publish the change. */
  private async publishSeparately(space: string, keys: readonly string[]): Promise<void> {
    const unpublished = keys.filter((key) => !this.sharesSlotWithNotices(space, key))
    await this.publish(
      space,
      unpublished.map((key) => ({ key })),
    )
  }

  /** Published after the change: an instance notified earlier could still read, and cache, the old value. */
  private async publish(space: string, items: readonly { key: string }[]): Promise<void> {
    for (const part of chunksOf(items, TOLD_AT_ONCE)) {
      await this.notices.tell({ kind: 'changed', space, keys: part.map(({ key }) => key) })
    }
  }
}

const keyList = ({ value, fill, tags }: EntryKeys): string[] => [value, fill, tags]

const argumentOf = (value: CacheValue): Argument =>
  typeof value === 'string' ? value : Buffer.from(value.buffer, value.byteOffset, value.byteLength)

function storedValue(reply: unknown): StoredValue | undefined {
  const [leftMs, value] = reply as Read
  return value === null || leftMs === GONE ? undefined : { value, leftMs: life(leftMs) }
}

/** Another program may have written it without an expiry. */
const life = (leftMs: number): number => (leftMs < 0 ? Number.POSITIVE_INFINITY : leftMs)

function fillStart([state, what, leftMs]: Begun): FillStart {
  switch (state.toString()) {
    case 'found':
      return { state: 'found', entry: { value: what as Buffer, leftMs: life(leftMs!) } }
    case 'held':
      return { state: 'held', leftMs: Math.max(1, what as number) }
    default:
      return { state: 'filling' }
  }
}
