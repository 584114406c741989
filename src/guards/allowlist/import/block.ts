import type { MemberAttributes, SortedCustomers } from '../port.js'
import { readAttributes } from './sorted-run.js'

/** Some customers of a longer run. */
export class Slice implements SortedCustomers {
  readonly count: number

  constructor(
    private readonly whole: SortedCustomers,
    private readonly from: number,
    to: number,
  ) {
    this.count = to - from
  }

  get bytes(): Uint8Array {
    return this.whole.bytes
  }

  start(index: number): number {
    return this.whole.start(this.from + index)
  }

  end(index: number): number {
    return this.whole.end(this.from + index)
  }

  attributes(index: number): MemberAttributes | undefined {
    return this.whole.attributes(this.from + index)
  }
}

/** Merged customers, copied from their source buffers: key, then attributes, one after the other. */
export class Block implements SortedCustomers {
  count = 0
  bytes: Uint8Array
  private used = 0
  private readonly starts: Uint32Array
  private readonly ends: Uint32Array

  constructor(
    private readonly maxCustomers: number,
    private readonly maxBytes: number,
  ) {
    this.bytes = new Uint8Array(Math.min(maxBytes, maxCustomers * 32))
    this.starts = new Uint32Array(maxCustomers + 1)
    this.ends = new Uint32Array(maxCustomers)
  }

  get full(): boolean {
    return this.count >= this.maxCustomers || this.used >= this.maxBytes
  }

  push(source: Uint8Array, start: number, keyEnd: number, end: number): void {
    if (this.used + end - start > this.bytes.length) this.grow(end - start)
    // A loop: for a few bytes, `set` costs more than it saves.
    let at = this.used
    for (let i = start; i < end; i++) this.bytes[at++] = source[i]!
    this.ends[this.count] = this.used + keyEnd - start
    this.used = at
    this.starts[++this.count] = at
  }

  start(index: number): number {
    return this.starts[index]!
  }

  end(index: number): number {
    return this.ends[index]!
  }

  attributes(index: number): MemberAttributes | undefined {
    return readAttributes(this.bytes, this.ends[index]!, this.starts[index + 1]!)
  }

  private grow(needed: number): void {
    const larger = new Uint8Array(this.bytes.length * 2 + needed)
    larger.set(this.bytes)
    this.bytes = larger
  }
}
