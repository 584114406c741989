import { pipeline, Readable } from 'node:stream'
import { createGunzip, type Gunzip } from 'node:zlib'
import { CatracaError, invalid } from '../../../core/errors.js'
import type { ImportLimits } from './limits.js'
import { ImportStop } from './stop.js'

export interface SourceOptions {
  /** Whether the body is gzip. If absent, the first bytes decide. */
  gzip: boolean | undefined
  /** When aborted, reading throws its reason. */
  signal: AbortSignal
  limits: Pick<ImportLimits, 'maxExpandedBytes' | 'maxExpansion'>
}

/** A body given as one huge chunk is divided, so that parsing it does not block other work. */
const MAX_PIECE_BYTES = 256 * 1024

/** The bytes of an import body, decompressed. Reads only on demand. */
export class BodySource {
  /** Bytes as received, before decompression. */
  bytesRead = 0

  constructor(
    private readonly body: AsyncIterable<Uint8Array>,
    private readonly options: SourceOptions,
  ) {}

  async *chunks(): AsyncGenerator<Uint8Array> {
    const raw = this.raw()
    try {
      const { head, isGzip } = await this.recognise(raw)
      const whole = rejoin(head, raw)
      // Always a plain Uint8Array, never a Buffer: the JIT compiles better code for one array type.
      for await (const { buffer, byteOffset, length } of isGzip ? this.expand(whole) : whole) {
        yield new Uint8Array(buffer, byteOffset, length)
      }
    } finally {
      // Not awaited: a body stuck in a read would never return.
      raw.return(undefined).catch(() => {})
    }
  }

  /** Reads the body to its end and ignores it. */
  async drain(): Promise<void> {
    for await (const _ of this.raw());
  }

  private async recognise(raw: AsyncIterator<Uint8Array>): Promise<{ head: Uint8Array; isGzip: boolean }> {
    let head: Uint8Array = new Uint8Array(0)
    while (head.length < 2) {
      const next = await raw.next()
      if (next.done === true) break
      head = head.length === 0 ? next.value : Buffer.concat([head, next.value])
    }
    const isGzip = this.options.gzip ?? (head[0] === 0x1f && head[1] === 0x8b)
    if (isGzip && head.length === 0) throw invalid('body', 'is empty, but must be gzip')
    return { head, isGzip }
  }

  private async *raw(): AsyncGenerator<Uint8Array> {
    const { signal } = this.options
    const iterator = this.body[Symbol.asyncIterator]()
    // One listener for the whole body: racing each read against one long-lived promise would leak a reaction per read.
    let giveUp: (reason: unknown) => void = () => {}
    const onAbort = (): void => giveUp(signal.reason)
    signal.addEventListener('abort', onAbort)
    try {
      while (true) {
        signal.throwIfAborted()
        const next = await new Promise<IteratorResult<Uint8Array>>((resolve, reject) => {
          giveUp = reject
          iterator.next().then(resolve, (error: unknown) => reject(new ImportStop('input-cut', error)))
        })
        if (next.done === true) return
        const chunk: unknown = next.value
        if (!(chunk instanceof Uint8Array)) throw invalid('body', 'must be a stream of bytes')
        this.bytesRead += chunk.length
        for (let at = 0; at < chunk.length; at += MAX_PIECE_BYTES) {
          yield chunk.subarray(at, at + MAX_PIECE_BYTES)
        }
      }
    } finally {
      signal.removeEventListener('abort', onAbort)
      iterator.return?.().catch(() => {})
    }
  }

  private async *expand(compressed: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const gunzip = createGunzip({ chunkSize: 64 * 1024 })
    // The reader of `gunzip` gets the error. The callback only prevents it from being thrown a second time.
    pipeline(Readable.from(compressed, { objectMode: false }), gunzip, () => {})
    let expandedBytes = 0
    try {
      for await (const chunk of gunzip as AsyncIterable<Uint8Array>) {
        expandedBytes += chunk.length
        this.refuseBomb(expandedBytes, gunzip)
        yield chunk
      }
    } catch (error) {
      throw isZlibError(error) ? unreadable(error) : error
    }
  }

  private refuseBomb(expandedBytes: number, gunzip: Gunzip): void {
    const { maxExpandedBytes, maxExpansion } = this.options.limits
    if (expandedBytes <= maxExpandedBytes || expandedBytes <= maxExpansion * gunzip.bytesWritten) return
    throw new CatracaError(
      'PAYLOAD_TOO_LARGE',
      `body expands to more than ${maxExpansion} times its size, and beyond ${maxExpandedBytes} bytes`,
    )
  }
}

async function* rejoin(head: Uint8Array, rest: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (head.length > 0) yield head
  yield* rest
}

function isZlibError(error: unknown): error is Error & { code: string } {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')
}

function unreadable(error: Error & { code: string }): CatracaError {
  const message = error.code === 'Z_BUF_ERROR' ? 'ends in the middle of its gzip data' : 'is not valid gzip'
  return new CatracaError('INVALID_INPUT', `body ${message}`, {
    cause: error,
    errors: [{ path: 'body', message }],
  })
}
