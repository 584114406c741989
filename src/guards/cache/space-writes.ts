import { randomUUID } from 'node:crypto'
import { invalid } from '../../core/errors.js'
import { every } from '../../core/timers.js'
import type { Filler } from './filler.js'
import type { Entry, Pin } from './first-tier.js'
import type { SpaceParts } from './flight-endings.js'
import { checkEntry } from './options.js'
import type { CacheNotice } from './port.js'
import { DOWN, StoreTime } from './second-tier.js'
import type { EntryOptions } from './types.js'

/** All changes of cached entries, also those by other instances. Keys are already validated. */
export class SpaceWrites<T> {
  constructor(
    private readonly parts: SpaceParts<T>,
    private readonly filler: Filler<T>,
  ) {}

  async set(key: string, value: T, options: EntryOptions<T>): Promise<void> {
    const { first, second } = this.parts
    const { entry, item } = await this.make(key, value, options)
    this.forget(key)
    const pin = first.pin(key)
    try {
      if (item === undefined) await second.remove([key])
      else {
        const outcome = await second.write([item])
        this.replace(pin, outcome === DOWN || first.isTrusted ? entry : undefined)
      }
    } finally {
      first.unpin(pin)
    }
  }

  async save(
    key: string,
    value: T,
    writeToSource: () => Promise<unknown>,
    options: EntryOptions<T>,
  ): Promise<void> {
    // Encodes before the source is changed, so that a value that cannot be stored fails early.
    await this.make(key, value, options)
    const { second, settings } = this.parts
    const token = randomUUID()
    const time = new StoreTime()
    const claim = { token, leaseMs: settings.leaseMs, freshAboveMs: 0, takeOver: true }
    await second.begin([key], claim, time)
    const renewing = every(() => {
      second.renew([key], token, settings.leaseMs).catch(() => {})
    }, settings.leaseMs / 2)
    try {
      await writeToSource()
    } catch (error) {
      // The write may have succeeded anyway.
      await this.remove([key], time)
      throw error
    } finally {
      clearInterval(renewing)
    }
    await this.storeSaved(key, value, token, options, time)
  }

  private async storeSaved(
    key: string,
    value: T,
    token: string,
    options: EntryOptions<T>,
    time: StoreTime,
  ): Promise<void> {
    const { first, second } = this.parts
    this.forget(key)
    const pin = first.pin(key)
    const { entry, item } = await this.make(key, value, options)
    const fills = item === undefined ? [] : [{ ...item, token, isChange: true }]
    const outcome = fills.length === 0 ? undefined : await second.store(fills, time)
    const isStored = outcome !== undefined && outcome !== DOWN && outcome[0] === 'stored'
    this.replace(pin, isStored && first.isTrusted ? entry : undefined)
    first.unpin(pin)
    // Another caller saved or deleted meanwhile, so the order is unknown.
    if (!isStored) await this.remove([key], time)
  }

  async remove(keys: readonly string[], time?: StoreTime): Promise<number> {
    for (const key of keys) this.forget(key)
    const removed = await this.parts.second.remove(keys, time)
    // A read in between may have been answered before the removal took effect.
    for (const key of keys) this.forget(key)
    return removed === DOWN ? 0 : removed.filter(Boolean).length
  }

  /** Expires the entries. They are served only if the source fails, for as long as the space allows. */
  async expire(keys: readonly string[]): Promise<void> {
    const { settings, second } = this.parts
    const { staleMs } = settings
    if (staleMs === 0) return void (await this.remove(keys))
    this.lapse(keys)
    await second.expire(keys, staleMs)
    this.lapse(keys)
  }

  async removeTag(tag: string): Promise<void> {
    this.forgetTag(tag)
    await this.parts.second.removeTag(tag)
    this.forgetTag(tag)
  }

  async clear(): Promise<void> {
    this.forgetAll()
    await this.parts.second.clear()
    this.forgetAll()
  }

  hear(notice: CacheNotice): void {
    const { first } = this.parts
    if (notice.kind === 'changed') for (const key of notice.keys) this.forget(key)
    else if (notice.kind === 'tag') this.forgetTag(notice.tag)
    else if (notice.kind === 'lost') first.isTrusted = false
    else {
      this.forgetAll()
      if (notice.kind === 'resumed') first.isTrusted = true
    }
  }

  private replace(pin: Pin, entry: Entry<T> | undefined): void {
    const { first, clock } = this.parts
    this.filler.detach(pin.key)
    first.replace(pin, entry, clock.now())
  }

  private async make(key: string, value: T, options: EntryOptions<T>) {
    checkEntry(options)
    if (value === undefined || value === null) throw invalid('value', 'must be given; delete removes one')
    return this.parts.entries.make(key, value, options)
  }

  private lapse(keys: readonly string[]): void {
    const { first, clock, settings } = this.parts
    for (const key of keys) {
      this.filler.detach(key)
      first.expire(key, clock.now(), settings.staleMs)
    }
  }

  private forget(key: string): void {
    this.filler.detach(key)
    this.parts.first.drop(key)
  }

  private forgetTag(tag: string): void {
    this.filler.detachAll()
    this.parts.first.dropTag(tag)
  }

  private forgetAll(): void {
    this.filler.detachAll()
    this.parts.first.clear()
  }
}
