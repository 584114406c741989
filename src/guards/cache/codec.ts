import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { invalid } from '../../core/errors.js'
import { type Content, deepFreeze, NO_CONTENT } from './content.js'
import type { CacheValue } from './port.js'
import { firstChange } from './unchanged.js'

/** Another form of values than JSON. Its number stands before each value, so that no other form is taken for it. */
export interface Codec<T> {
  /** 128 to 254: no JSON text and no gzip begins with such a byte, 255 is `typedJson`'s. A new form takes a new number. */
  readonly version: number
  encode(value: T): Uint8Array
  decode(bytes: Uint8Array): T
}

export interface CodecOptions<T> {
  codec: Codec<T> | undefined
  gzipAboveBytes: number
  /** Read as they are, though they are no JSON. */
  words: readonly string[]
  /** Of a value, also when it is unpacked. */
  maxValueBytes: number
}

export interface Decoded<T> {
  content: Content<T>
  /** Before it was gzipped. */
  plainBytes: number
}

const MAGIC = [0x1f, 0x8b] as const
const MIN_VERSION = 128
/** JSON for "there is none". */
const NOTHING = 'null'

const pack = promisify(gzip)
const unpack = promisify(gunzip)

/** The stored form of values: bare JSON, or the codec's bytes behind its number; either of them gzipped when large. */
export class ValueForm<T> {
  constructor(private readonly options: CodecOptions<T>) {
    const version = options.codec?.version ?? MIN_VERSION
    if (!Number.isInteger(version) || version < MIN_VERSION || version > 255) {
      throw invalid('codec.version', 'must be a whole number from 128 to 255')
    }
  }

  /**
   * With what decoding gives: everybody gets that, who loaded it too. `stored` is undefined for a value that is too large.
   * Throws for one that has no such form, or that would come back as another.
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
      ? 'JSON, the codec of this space (see its option codec),'
      : 'the codec'
  }

  /** Synchronous but for what was gzipped. Throws for what cannot be read. */
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
    // What came from a store may be a part of something larger, which would be kept with it.
    const own = typeof plain === 'string' ? plain : Buffer.from(plain)
    return { shared: undefined, copy: () => this.read(own) as T }
  }

  private plain(value: T): CacheValue {
    const { codec } = this.options
    if (codec === undefined) {
      const text = JSON.stringify(value)
      if (text === undefined) throw new TypeError('it cannot be written as JSON')
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
    if (this.options.codec !== undefined && text !== NOTHING) throw new Error('written with another codec')
    if (this.options.words.includes(text)) return text as T
    return (parseJson(text) ?? undefined) as T | undefined
  }
}

/** A field of that name would become the prototype of whatever the value is copied to. */
function parseJson(text: string): unknown {
  if (!text.includes('__proto__') && !text.includes('\\u00')) return JSON.parse(text)
  return JSON.parse(text, (name, value) => (name === '__proto__' ? undefined : value))
}
