import { createHash } from 'node:crypto'
import { MAX_CUSTOMER_KEY_LENGTH, writeCustomerKeyFromBytes } from '../customer-key.js'
import type { MemberAttributes } from '../port.js'
import type { RejectedRow } from '../types.js'
import type { ImportLimits } from './limits.js'
import { shownRow } from './rejected-row.js'
import type { RowSink } from './rows.js'

/** Gives the event loop a turn. */
export type Pause = () => Promise<void>

type RunLimits = Pick<ImportLimits, 'maxRunRows' | 'maxRunKeyBytes' | 'maxRunAttributeBytes' | 'maxErrors'>

/** More than the longest attributes that `member-input.ts` accepts, as JSON. */
const MAX_ATTRIBUTES_LENGTH = 16 * 1024
const FIRST_BYTES = 64 * 1024
const FIRST_ROWS = 4096
const DIGEST_PIECE_BYTES = 4 * 1024 * 1024

/**
 * Rows of the input in their order, packed: keys end to end, and attributes as JSON. A rejected row has an empty
 * key, which no customer has. Where a run ends depends only on the rows, never on how they arrived, so a resumed
 * import gets the same runs again. Buffers are reused between runs.
 */
export class RunBuilder implements RowSink {
  rows = 0
  rejected = 0
  rowsWithExtraCells = 0
  errors: RejectedRow[] = []
  keys = new Uint8Array(FIRST_BYTES)
  /** Key of row `i`: from `starts[i]` to `starts[i + 1]`. The same for attributes. */
  starts = new Uint32Array(FIRST_ROWS + 1)
  attributes = new Uint8Array(0)
  attributeStarts = new Uint32Array(FIRST_ROWS + 1)
  private keyBytes = 0
  private attributeBytes = 0

  constructor(private readonly limits: RunLimits) {}

  get full(): boolean {
    const { maxRunRows, maxRunKeyBytes, maxRunAttributeBytes } = this.limits
    return (
      this.rows >= maxRunRows ||
      this.keyBytes >= maxRunKeyBytes ||
      this.attributeBytes >= maxRunAttributeBytes
    )
  }

  reset(): void {
    this.rows = 0
    this.rejected = 0
    this.rowsWithExtraCells = 0
    this.errors = []
    this.keyBytes = 0
    this.attributeBytes = 0
  }

  add(source: Uint8Array, start: number, end: number, attributes?: MemberAttributes): boolean {
    if (this.keyBytes + MAX_CUSTOMER_KEY_LENGTH > this.keys.length) {
      this.keys = grown(this.keys, this.limits.maxRunKeyBytes + MAX_CUSTOMER_KEY_LENGTH)
    }
    const next = writeCustomerKeyFromBytes(source, start, end, this.keys, this.keyBytes)
    if (next < 0) return false
    this.keyBytes = next
    if (attributes !== undefined) this.writeAttributes(attributes)
    this.closeRow()
    return true
  }

  reject(line: number, message: string, row: Uint8Array): void {
    if (this.errors.length < this.limits.maxErrors) {
      this.errors.push({ line, message, row: shownRow(row) })
    }
    this.rejected++
    this.closeRow()
  }

  noteExtraCells(): void {
    this.rowsWithExtraCells++
  }

  /** SHA-256 of these rows and, through the previous digest, of all rows before them. */
  async digest(previous: string, pause: Pause): Promise<string> {
    const hash = createHash('sha256')
    hash.update(`${previous} ${this.rows} ${this.keyBytes} ${this.attributeBytes}\n`)
    const parts: Uint8Array[] = [this.keys.subarray(0, this.keyBytes), raw(this.starts, this.rows + 1)]
    if (this.attributeBytes > 0) {
      parts.push(this.attributes.subarray(0, this.attributeBytes), raw(this.attributeStarts, this.rows + 1))
    }
    for (const part of parts) {
      for (let at = 0; at < part.length; at += DIGEST_PIECE_BYTES) {
        hash.update(part.subarray(at, at + DIGEST_PIECE_BYTES))
        await pause()
      }
    }
    return hash.digest('hex')
  }

  private writeAttributes(attributes: MemberAttributes): void {
    if (this.attributeBytes + MAX_ATTRIBUTES_LENGTH > this.attributes.length) {
      this.attributes = grown(this.attributes, this.limits.maxRunAttributeBytes + MAX_ATTRIBUTES_LENGTH)
    }
    const text = JSON.stringify(attributes)
    const room = this.attributes.subarray(this.attributeBytes)
    this.attributeBytes += encoder.encodeInto(text, room).written
  }

  private closeRow(): void {
    const row = ++this.rows
    if (row >= this.starts.length) {
      this.starts = grownRows(this.starts)
      this.attributeStarts = grownRows(this.attributeStarts)
    }
    this.starts[row] = this.keyBytes
    this.attributeStarts[row] = this.attributeBytes
  }
}

const encoder = new TextEncoder()

function grown(bytes: Uint8Array, limit: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(
    Math.min(Math.max(bytes.length * 2, FIRST_BYTES), Math.max(limit, FIRST_BYTES)),
  )
  larger.set(bytes)
  return larger
}

function grownRows(starts: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array((starts.length - 1) * 2 + 1)
  larger.set(starts)
  return larger
}

function raw(numbers: Uint32Array, count: number): Uint8Array {
  return new Uint8Array(numbers.buffer, numbers.byteOffset, count * 4)
}
