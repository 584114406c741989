import type { MemberAttributes } from '../port.js'

/** Receives the rows that a reader finds. */
export interface RowSink {
  /** The reader stops after the row that made it true. */
  readonly full: boolean
  /** Adds the customer whose id is in these bytes. False: it is not an identifier, and nothing was added. */
  add(source: Uint8Array, start: number, end: number, attributes?: MemberAttributes): boolean
  /** `row`: the row as received, as far as it is known. */
  reject(line: number, message: string, row: Uint8Array): void
  /** The row that was added last has cells that no column imports. */
  noteExtraCells(): void
}

export interface RowOptions {
  maxRowBytes: number
  /** False for lists of `trusted` precision, whose members never expire. */
  takesExpiry: boolean
  /** CSV only: the column of the ids, by heading or number. */
  column?: string
}

export const ID_RULE = 'customerId must be 1 to 256 characters of A-Z a-z 0-9 . _ ~ : @ + = - and not . or ..'
const BOM = Uint8Array.of(0xef, 0xbb, 0xbf)
export const NEWLINE = 0x0a
const HEAD_BYTES = 1024

/**
 * Finds rows in a stream of bytes. A row within one chunk is read in place. Only a row that crosses chunks is
 * copied, up to the longest row allowed, so memory stays bounded.
 */
export abstract class RowReader {
  /** The current line of the file, from 1. */
  protected line = 1
  private rowLine = 1
  private bomBytes = 0
  private readonly carry: Uint8Array
  private carried = 0
  private isTooLong = false
  /** The beginning of a row that is too long. */
  private head = new Uint8Array(0)

  constructor(
    protected readonly sink: RowSink,
    protected readonly options: RowOptions,
  ) {
    this.carry = new Uint8Array(options.maxRowBytes)
  }

  /** The newline that ends the current row, or -1 if the row continues after the chunk. */
  protected abstract findEnd(chunk: Uint8Array, from: number): number
  /** Passes the row to the sink. Returns the error, if any. */
  protected abstract row(bytes: Uint8Array, start: number, end: number): string | undefined
  /** The error, if the input ends within a row that is not complete. */
  protected abstract unfinished(): string | undefined

  /** Reads rows from `from` on. Returns how far it came: less than the whole chunk only if the sink is full. */
  read(chunk: Uint8Array, from: number): number {
    let at = this.bomBytes < BOM.length ? this.skipBom(chunk, from) : from
    while (at < chunk.length && !this.sink.full) {
      const end = this.findEnd(chunk, at)
      if (end < 0) {
        this.keep(chunk, at, chunk.length)
        return chunk.length
      }
      this.take(chunk, at, end)
      this.rowLine = ++this.line
      at = end + 1
    }
    return at
  }

  /** Whether there are bytes after the last newline. */
  get hasRest(): boolean {
    return this.carried > 0 || this.isTooLong
  }

  /** The input has ended: the remaining bytes are a row, although no newline follows. */
  end(): void {
    if (this.bomBytes < BOM.length) this.replayBom()
    if (!this.hasRest) return
    const problem = this.unfinished()
    if (problem === undefined || this.isTooLong) this.take(this.carry, 0, 0)
    else this.sink.reject(this.rowLine, problem, this.carry.subarray(0, this.carried))
  }

  private take(chunk: Uint8Array, start: number, end: number): void {
    if (!this.hasRest && end - start <= this.options.maxRowBytes) {
      this.hand(chunk, start, end)
      return
    }
    this.keep(chunk, start, end)
    const length = this.carried
    this.carried = 0
    if (this.isTooLong)
      this.sink.reject(this.rowLine, `row is longer than ${this.options.maxRowBytes} bytes`, this.head)
    else this.hand(this.carry, 0, length)
    this.isTooLong = false
  }

  private hand(bytes: Uint8Array, start: number, end: number): void {
    const problem = this.row(bytes, start, end)
    if (problem !== undefined) this.sink.reject(this.rowLine, problem, bytes.subarray(start, end))
  }

  private keep(chunk: Uint8Array, start: number, end: number): void {
    if (!this.isTooLong && this.carried + end - start > this.options.maxRowBytes) {
      this.isTooLong = true
      this.head = (
        this.carried > 0 ? this.carry.subarray(0, this.carried) : chunk.subarray(start, end)
      ).slice(0, HEAD_BYTES)
    }
    if (this.isTooLong) {
      this.carried = 0
      return
    }
    this.carry.set(chunk.subarray(start, end), this.carried)
    this.carried += end - start
  }

  private skipBom(chunk: Uint8Array, from: number): number {
    let at = from
    while (at < chunk.length && this.bomBytes < BOM.length) {
      if (chunk[at] !== BOM[this.bomBytes]) {
        this.replayBom()
        break
      }
      this.bomBytes++
      at++
    }
    return at
  }

  /** The bytes looked like the start of a byte order mark but were not one, so they belong to the first row. */
  private replayBom(): void {
    const seen = this.bomBytes
    this.bomBytes = BOM.length
    this.read(BOM.subarray(0, seen), 0)
  }
}

/** Space, tab or carriage return. */
function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0d
}

export function trimStart(bytes: Uint8Array, start: number, end: number): number {
  let at = start
  while (at < end && isBlank(bytes[at])) at++
  return at
}

export function trimEnd(bytes: Uint8Array, start: number, end: number): number {
  let at = end
  while (at > start && isBlank(bytes[at - 1])) at--
  return at
}
