import type { Clock } from '../../core/clock.js'
import { invalid } from '../../core/errors.js'
import { identifier } from '../../core/identifiers.js'
import { type Decoded, ValueForm } from './codec.js'
import { type Content, contentValue } from './content.js'
import type { Entry } from './first-tier.js'
import { loadedTtl, type SpaceSettings } from './options.js'
import type { CacheItem, CacheValue, StoredValue } from './port.js'
import type { CacheAnswer, EntryOptions } from './types.js'

/** Makes entries from loaded or set values, and from what the second tier returns. */
export class Entries<T> {
  tooLarge = 0
  private readonly form: ValueForm<T>

  constructor(
    private readonly settings: SpaceSettings<T>,
    private readonly maxStoredBytes: number,
    private readonly clock: Clock,
    /** In [0, 1). */
    private readonly random: () => number,
  ) {
    this.form = new ValueForm(settings)
  }

  /** The entry, and the item to store. Undefined `item`: must not be stored. */
  async make(
    key: string,
    value: T | undefined,
    { ttlMs, tags = [] }: EntryOptions<T>,
  ): Promise<{ entry: Entry<T>; item: CacheItem | undefined }> {
    const { staleMs, negativeTtlMs, jitter } = this.settings
    const isThere = value !== undefined
    const ofEntry = isThere && typeof ttlMs === 'function' ? loadedTtl(ttlMs(value, key)) : ttlMs
    const longest = isThere ? ((ofEntry as number | undefined) ?? this.settings.ttlMs) : negativeTtlMs
    const freshMs = longest === 0 ? 0 : Math.max(1, Math.round(longest * (1 - jitter * this.random())))
    const given = isThere && this.settings.tags ? [...tags, ...this.settings.tags(value, key)] : tags
    const all = given.map((tag) => identifier('tags', tag))
    const { stored, content, plainBytes } = await this.encode(key, value)
    const now = this.clock.now()
    const freshUntil = now + freshMs
    const entry: Entry<T> = {
      ...{ content, storedAt: now, freshUntil, keepUntil: freshUntil + staleMs, tags: all },
      bytes: plainBytes,
    }
    if (freshMs === 0 || !this.fits(stored)) return { entry, item: undefined }
    return { entry, item: { key, value: stored, lifeMs: freshMs + staleMs, tags: all } }
  }

  private async encode(key: string, value: T | undefined) {
    return this.form.encode(value).catch((error: unknown) => {
      throw invalid('value', `of ${key} cannot be stored: ${error instanceof Error ? error.message : error}`)
    })
  }

  private fits(stored: CacheValue | undefined): stored is CacheValue {
    if (stored !== undefined && Buffer.byteLength(stored) <= this.maxStoredBytes) return true
    this.tooLarge++
    return false
  }

  /**
   * Throws or rejects for a value that cannot be decoded. Returns a promise only for gzipped values. The remaining
   * lifetime is counted from the request, not from the response. Otherwise the first tier would keep an entry
   * longer than the second.
   */
  read(stored: StoredValue, askedAt: number): Entry<T> | Promise<Entry<T>> {
    const decoded = this.form.decode(stored.value)
    if (decoded instanceof Promise) return decoded.then((value) => this.entry(stored, value, askedAt))
    return this.entry(stored, decoded, askedAt)
  }

  private entry(stored: StoredValue, { content, plainBytes }: Decoded<T>, now: number): Entry<T> {
    const { ttlMs, staleMs } = this.settings
    // A value that another program wrote without an expiry gets the TTL of the space.
    const leftMs = Math.min(stored.leftMs, Number.MAX_SAFE_INTEGER)
    const freshUntil = stored.leftMs === Number.POSITIVE_INFINITY ? now + ttlMs : now + leftMs - staleMs
    return {
      content,
      freshUntil,
      keepUntil: freshUntil + staleMs,
      tags: undefined,
      storedAt: now - (stored.ageMs ?? Math.max(0, ttlMs + staleMs - leftMs)),
      bytes: plainBytes,
    }
  }
}

/** A result shared by several callers. Each takes the value out of `content`. */
export interface Finding<T> extends Omit<CacheAnswer<T>, 'value'> {
  content: Content<T>
}

export function findingOf<T>(entry: Entry<T>, now: number): Finding<T> {
  return {
    content: entry.content,
    stale: now >= entry.freshUntil,
    ageMs: Math.max(0, now - entry.storedAt),
  }
}

export function answerOf<T>({ content, ...rest }: Finding<T>): CacheAnswer<T> {
  return { value: contentValue(content), ...rest }
}
