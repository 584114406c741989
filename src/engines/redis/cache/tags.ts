import { randomUUID } from 'node:crypto'
import type { CacheItem } from '../../../guards/cache/port.js'
import type { Redis } from '../link/redis.js'
import { defineScript } from '../link/script.js'
import { entryKeys, removedKey, TAG_PATTERN, type TagKeys, tagKeys } from './keys.js'
import { type CacheNotices, NOTHING_KNOWN } from './notices.js'

const ADD = defineScript('cache-tag-add', { keys: ['zset', 'string'], write: true, uses: ['clock'] })
const REMOVE = defineScript('cache-tag-remove', { keys: ['zset', 'string', 'set', 'zset'], write: true })
const DROP = defineScript('cache-drop', { keys: ['any', 'string', 'string'], write: true })
const TRIM = defineScript('cache-tag-trim', { keys: 1, write: true, uses: ['clock'] })

/** A mark is for fills that began before it. No fill runs for longer. */
const MARK_LIFE_MS = 2 * 86_400_000
const DROPPED_AT_ONCE = 500
const SCANNED_AT_ONCE = '1000'

/** The tags as stored beside a value. Spaces around each tag allow a search for the whole tag. */
export const tagText = (tags: readonly string[]): string => (tags.length === 0 ? '' : ` ${tags.join(' ')} `)

/**
 * Which keys have which tags. A key is added to its tag before its value is stored, so that no value is missed. The
 * tags stored beside the value show whether it really has the tag.
 */
export class Tags {
  private isUsed = false
  private trimming: { addresses: string[]; cursor: string } | undefined

  constructor(
    private readonly redis: Redis,
    private readonly notices: CacheNotices,
  ) {}

  /**
   * Adds the key to its tags. Returns the lowest number with which a fill may store it; any, if none of the tags was
   * removed.
   */
  async note(space: string, { key, tags, lifeMs }: CacheItem): Promise<number> {
    if (tags.length === 0) return NOTHING_KNOWN
    this.isUsed = true
    const marks = tags.map((tag) => {
      const { members, mark } = tagKeys(space, tag)
      return this.redis.run(ADD, [members, mark], [key, String(lifeMs)])
    })
    return Math.max(...((await Promise.all(marks)) as number[]))
  }

  async remove(space: string, tag: string): Promise<void> {
    const keys = tagKeys(space, tag)
    const name = randomUUID()
    const mark = (await this.notices.number()) + 1
    const names = (await this.redis.run(
      REMOVE,
      [keys.members, keys.mark, keys.removals, removedKey(keys, name)],
      [name, String(mark), String(MARK_LIFE_MS)],
    )) as string[]
    for (const removal of names) await this.finish(space, tag, keys, removal)
    await this.notices.tell({ kind: 'tag', space, tag })
  }

  /** Also finishes removals that another process began. Dropping an entry twice only costs another load. */
  private async finish(space: string, tag: string, keys: TagKeys, removal: string): Promise<void> {
    const removed = removedKey(keys, removal)
    for (;;) {
      const range = ['ZRANGE', removed, '0', String(DROPPED_AT_ONCE - 1)]
      const members = (await this.redis.read(removed, range)) as string[]
      if (members.length === 0) break
      await Promise.all(members.map((key) => this.drop(space, key, tag)))
      await this.redis.write(removed, ['ZREM', removed, ...members])
    }
    await this.redis.write(keys.removals, ['SREM', keys.removals, removal])
  }

  private drop(space: string, key: string, tag: string): Promise<unknown> {
    const { value, fill, tags } = entryKeys(space, key)
    return this.redis.run(DROP, [value, fill, tags], [tagText([tag])])
  }

  /** Sets of unused tags still hold keys of expired entries. Each call scans one part of all keys. */
  async trim(): Promise<void> {
    if (!this.isUsed) return
    const { addresses, cursor } = this.trimming ?? { addresses: this.redis.primaries(), cursor: '0' }
    const [address, ...others] = addresses
    this.trimming = undefined
    if (address === undefined) return
    const args = ['SCAN', cursor, 'MATCH', TAG_PATTERN, 'COUNT', SCANNED_AT_ONCE]
    const [next, found] = (await this.redis.readAt(address, args)) as [string, string[]]
    await Promise.all(found.map((key) => this.redis.run(TRIM, [key], [])))
    if (next !== '0') this.trimming = { addresses, cursor: next }
    else if (others.length > 0) this.trimming = { addresses: others, cursor: '0' }
  }
}
