import type { KeyvStoreAdapter, StoredData } from 'keyv'
import { encodeIdentifier } from '../core/encode-identifier.js'
import { invalid } from '../core/errors.js'
import { type Fields, KnownFields } from '../core/fields.js'
import type { CacheSpace } from '../guards/cache/space.js'

export interface KeyvStoreOptions {
  /** `catraca.cache.space<string>({ name, ttlMs })`. Its `ttlMs` is the TTL of values that keyv keeps without one. */
  space: KeyvSpace
}

type KeyvSpace = Pick<
  CacheSpace<string>,
  'name' | 'get' | 'getMany' | 'set' | 'delete' | 'deleteMany' | 'clear'
>

const FIELDS: Fields<KeyvStoreOptions> = { space: true }
const KNOWN = new KnownFields(FIELDS)

/**
 * A store of keyv over a cache space, and so of cache-manager. One instance of Keyv uses it: `clear` empties the whole
 * space.
 */
export class KeyvCatraca implements KeyvStoreAdapter {
  /** keyv looks here for the dialect of a store that it may iterate. */
  readonly opts: KeyvStoreOptions
  /** keyv puts it before each key. */
  namespace?: string | undefined
  private readonly space: KeyvSpace

  /** Refuses wrong options. */
  constructor(options: KeyvStoreOptions) {
    KNOWN.check(options)
    if (typeof options.space?.getMany !== 'function') {
      throw invalid('space', 'must be a cache space of an instance: catraca.cache.space(…)')
    }
    this.opts = options
    this.space = options.space
  }

  /** Failures reject, so there is no event to listen to. */
  on(): this {
    return this
  }

  async get<Value>(key: string): Promise<StoredData<Value> | undefined> {
    return (await this.space.get(encodeIdentifier(key, 'key'))) as StoredData<Value> | undefined
  }

  async getMany<Value>(keys: string[]): Promise<StoredData<Value | undefined>[]> {
    const encoded = keys.map((key) => encodeIdentifier(key, 'key'))
    const values = await this.space.getMany(encoded)
    return encoded.map((key) => values.get(key) as StoredData<Value | undefined>)
  }

  async set(key: string, value: unknown, ttl?: number): Promise<boolean> {
    // What a space gives is shared and frozen, and callers of keyv may change what they get.
    if (typeof value !== 'string') throw invalid('value', 'must be a text: leave the serializer of keyv on')
    await this.space.set(encodeIdentifier(key, 'key'), value, ttl === undefined ? {} : { ttlMs: ttlOf(ttl) })
    return true
  }

  async delete(key: string): Promise<boolean> {
    return this.space.delete(encodeIdentifier(key, 'key'))
  }

  async deleteMany(keys: string[]): Promise<boolean> {
    return (await this.space.deleteMany(keys.map((key) => encodeIdentifier(key, 'key')))) > 0
  }

  async has(key: string): Promise<boolean> {
    return (await this.get(key)) !== undefined
  }

  async hasMany(keys: string[]): Promise<boolean[]> {
    return (await this.getMany(keys)).map((value) => value !== undefined)
  }

  async clear(): Promise<void> {
    await this.space.clear()
  }
}

/** keyv accepts parts of a millisecond, a space does not. */
const ttlOf = (ttl: number): number => Math.ceil(ttl)
