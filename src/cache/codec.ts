import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { invalid } from '../errors.js'
import type { CacheValue } from './port.js'

/** Another form of values than JSON. Its number stands before each value, so that no other form is taken for it. */
export interface Codec<T> {
  /** 128 to 255: no JSON text and no gzip begins with such a byte. A new form of values takes a new number. */
  readonly version: number
  encode(value: T): Uint8Array
  decode(bytes: Uint8Array): T
}

export interface CodecOptions<T> {
  codec: Codec<T> | undefined
  gzipAboveBytes: number
  /** Of a value, also when it is unpacked. */
  maxValueBytes: number
}

export interface Decoded<T> {
  value: T | undefined
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

  /** Undefined for a value that is too large; throws for one that has no such form. */
  async encode(value: T | undefined): Promise<{ stored: CacheValue; plainBytes: number } | undefined> {
    const plain = value === undefined ? NOTHING : this.plain(value)
    const sizeBytes = typeof plain === 'string' ? Buffer.byteLength(plain) : plain.length
    if (sizeBytes > this.options.maxValueBytes) return undefined
    const stored = sizeBytes > this.options.gzipAboveBytes ? await pack(plain) : plain
    return { stored, plainBytes: sizeBytes }
  }

  /** Synchronous but for what was gzipped. Throws for what cannot be read. */
  decode(stored: CacheValue): Decoded<T> | Promise<Decoded<T>> {
    if (typeof stored === 'string') return { value: this.parse(stored), plainBytes: stored.length }
    if (stored[0] !== MAGIC[0] || stored[1] !== MAGIC[1]) return this.decodePlain(stored)
    const { maxValueBytes } = this.options
    return unpack(stored, { maxOutputLength: maxValueBytes }).then((bytes) => this.decodePlain(bytes))
  }

  private decodePlain(bytes: Uint8Array): Decoded<T> {
    return { value: this.read(bytes), plainBytes: bytes.length }
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

  private read(bytes: Uint8Array): T | undefined {
    const { codec } = this.options
    if (codec !== undefined && bytes[0] === codec.version) return codec.decode(bytes.subarray(1))
    return this.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString())
  }

  private parse(text: string): T | undefined {
    if (this.options.codec !== undefined && text !== NOTHING) throw new Error('written in another form')
    return (parseJson(text) ?? undefined) as T | undefined
  }
}

/** A field of that name would become the prototype of whatever the value is copied to. */
function parseJson(text: string): unknown {
  if (!text.includes('__proto__') && !text.includes('\\u00')) return JSON.parse(text)
  return JSON.parse(text, (name, value) => (name === '__proto__' ? undefined : value))
}
