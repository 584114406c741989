import { compareKeys } from '../customer-key.js'
import { Block } from './block.js'
import type { ImportLimits } from './limits.js'
import type { SortedRun } from './sorted-run.js'

/** Iterates over one sorted run. The current record is its key up to `keyEnd`, then its attributes. */
export interface Cursor {
  readonly bytes: Uint8Array
  readonly start: number
  readonly keyEnd: number
  readonly end: number
  /** Of equal keys, the one with the lowest rank counts. */
  readonly rank: number
  /** Advances. False at the end. Returns a promise only if it must wait. */
  next(): boolean | Promise<boolean>
}

/** Iterates over a run that is still in memory. */
export class MemoryCursor implements Cursor {
  bytes = new Uint8Array(1024)
  readonly start = 0
  keyEnd = 0
  end = 0
  private index = -1

  constructor(
    private readonly run: SortedRun,
    readonly rank: number,
  ) {}

  next(): boolean {
    if (++this.index >= this.run.count) return false
    const from = this.run.start(this.index)
    const json = this.run.attributeJson(this.index)
    this.keyEnd = this.run.end(this.index) - from
    this.end = this.keyEnd + json.length
    if (this.end > this.bytes.length) this.bytes = new Uint8Array(this.end * 2)
    for (let i = 0; i < this.keyEnd; i++) this.bytes[i] = this.run.bytes[from + i]!
    this.bytes.set(json, this.keyEnd)
    return true
  }
}

export interface MergeTally {
  duplicates: number
}

/** The customers of all runs in ascending order without duplicates, in blocks. */
export async function* merge(
  cursors: Cursor[],
  limits: Pick<ImportLimits, 'blockCustomers' | 'blockBytes'>,
  tally: MergeTally,
): AsyncGenerator<Block> {
  const heap: Cursor[] = []
  for (const cursor of cursors) if (await cursor.next()) siftUp(heap, cursor)
  let block = new Block(limits.blockCustomers, limits.blockBytes)
  // A copy of the last key, because its block may already be released.
  const last = new Uint8Array(512)
  let lastLength = 0
  while (heap.length > 0) {
    const least = heap[0]!
    const { bytes, start, keyEnd } = least
    if (compareKeys(last, 0, lastLength, bytes, start, keyEnd) === 0) {
      tally.duplicates++
    } else {
      block.push(bytes, start, keyEnd, least.end)
      lastLength = keyEnd - start
      for (let i = 0; i < lastLength; i++) last[i] = bytes[start + i]!
    }
    const moved = least.next()
    if (!(typeof moved === 'boolean' ? moved : await moved)) removeFirst(heap)
    else siftDown(heap, least)
    if (block.full) {
      yield block
      block = new Block(limits.blockCustomers, limits.blockBytes)
    }
  }
  if (block.count > 0) yield block
}

function isBefore(a: Cursor, b: Cursor): boolean {
  const difference = compareKeys(a.bytes, a.start, a.keyEnd, b.bytes, b.start, b.keyEnd)
  return difference < 0 || (difference === 0 && a.rank < b.rank)
}

function siftUp(heap: Cursor[], cursor: Cursor): void {
  let at = heap.push(cursor) - 1
  while (at > 0) {
    const parent = (at - 1) >> 1
    if (!isBefore(cursor, heap[parent]!)) break
    heap[at] = heap[parent]!
    at = parent
  }
  heap[at] = cursor
}

/** Moves a cursor from the top to its place. */
function siftDown(heap: Cursor[], cursor: Cursor): void {
  let at = 0
  while (true) {
    let child = 2 * at + 1
    if (child >= heap.length) break
    if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++
    if (!isBefore(heap[child]!, cursor)) break
    heap[at] = heap[child]!
    at = child
  }
  heap[at] = cursor
}

function removeFirst(heap: Cursor[]): void {
  const last = heap.pop()!
  if (heap.length > 0) siftDown(heap, last)
}
