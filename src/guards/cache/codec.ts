import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { invalid } from '../../core/errors.js'
import { type Content, deepFreeze, NO_CONTENT } from './content.js'
import type { CacheValue } from './port.js'
import { firstChange } from './round-trip.js'

/** A value format other than JSON. Its version number precedes each value, so that formats are never confused. */
export interface Codec<T> {
  /**
   * 128 to 254. JSON text and gzip never begin with such a byte; 255 is `typedJson`. A new format needs a new number.
   */
  readonly version: number
  encode(value: T): Uint8Array
  decode(bytes: Uint8Array): T
}

export interface CodecOptions<T> {
  codec: Codec<T> | undefined
  gzipAboveBytes: number
  /** Texts accepted as they are, although they are not JSON. */
  words: readonly string[]
  /** Maximum size of a value, also after unpacking. */
  maxValueBytes: number
}

export interface Decoded<T> {
  content: Content<T>
  /** Size before gzip. */
  plainBytes: number
}

const MAGIC = [0x1f, 0x8b] as const
const MIN_VERSION = 128
/** JSON for "the source has no value". */
const NOTHING = 'null'

const pack = promisify(gzip)
const unpack = promisify(gunzip)

/** The stored form of values: bare JSON, or the codec's version and bytes. Gzipped when large. */
export class ValueForm<T> {
  constructor(private readonly options: CodecOptions<T>) {
    const version = options.codec?.version ?? MIN_VERSION
    if (!Number.isInteger(version) || version < MIN_VERSION || version > 255) {
      throw invalid('codec.version', 'must be a whole number from 128 to 255')
    }
  }

  /**
   * Also returns the decoded value, because every caller gets that one, even the caller that loaded it. `stored` is
   * undefined for a value that is too large. Throws for a value that cannot be encoded, or that decoding would change.
   */
  async encode(value: T | undefined): Promise<Decoded<T> & { stored: CacheValue | undefined }> {
    if (value === undefined) return { stored: NOTHING, content: NO_CONTENT, plainBytes: NOTHING.length }
    const plain = this.plain(value)
    const decoded = this.read(plain)
    const change = firstChange(value, decoded)
    if (change !== undefined) throw new TypeError(`${this.name} would change ${change}`)
    const plainBytes = typeof plain === 'string' ? Buffer.byteLength(plain) : plain.length
    const content = this.contentOf(decoded, plain)
    if (plainBytes > this.options.maxValueBytes) return { stored: undefined, content, plainBytes }
    const stored = plainBytes > this.options.gzipAboveBytes ? await pack(plain) : plain
    return { stored, content, plainBytes }
  }

  private get name(): string {
    return this.options.codec === undefined
      ? 'JSON, the form of this space (see its option codec),'
      : 'the codec'
  }

  /** Synchronous unless gzipped. Throws for a value that cannot be decoded. */
  decode(stored: CacheValue): Decoded<T> | Promise<Decoded<T>> {
    if (typeof stored === 'string' || stored[0] !== MAGIC[0] || stored[1] !== MAGIC[1])
      return this.decodePlain(stored)
    const { maxValueBytes } = this.options
    return unpack(stored, { maxOutputLength: maxValueBytes }).then((bytes) => this.decodePlain(bytes))
  }

  private decodePlain(plain: CacheValue): Decoded<T> {
    return { content: this.contentOf(this.read(plain), plain), plainBytes: plain.length }
  }

  private contentOf(decoded: T | undefined, plain: CacheValue): Content<T> {
    if (decoded === undefined) return NO_CONTENT
    if (deepFreeze(decoded)) return { shared: decoded, copy: undefined }
    // Copied: bytes from a store may be a view into a larger buffer, which would stay in memory.
    const own = typeof plain === 'string' ? plain : Buffer.from(plain)
    return { shared: undefined, copy: () => this.read(own) as T }
  }

  private plain(value: T): CacheValue {
    const { codec } = this.options
    if (codec === undefined) {
      const text = JSON.stringify(value)
      if (text === undefined) throw new TypeError('it has no JSON form')
      return text
    }
    const bytes = codec.encode(value)
    const plain = new Uint8Array(bytes.length + 1)
    plain[0] = codec.version
    plain.set(bytes, 1)
    return plain
  }

  private read(bytes: CacheValue): T | undefined {
    if (typeof bytes === 'string') return this.parse(bytes)
    const { codec } = this.options
    if (codec !== undefined && bytes[0] === codec.version) return codec.decode(bytes.subarray(1))
    return this.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString())
  }

  private parse(text: string): T | undefined {
    if (this.options.codec !== undefined && text !== NOTHING) throw new Error('written in another form')
    if (this.options.words.includes(text)) return text as T
    return (parseJson(text) ?? undefined) as T | undefined
  }
}

/** Drops `__proto__`: it would become the prototype of an object that the value is copied to. */
function parseJson(text: string): unknown {
  if (!text.includes('__proto__') && !text.includes('\\u00')) return JSON.parse(text)
  return JSON.parse(text, (name, value) => (name === '__proto__' ? undefined : value))
}
