import { type FileHandle, open } from 'node:fs/promises'
import type { Cursor } from './merge.js'
import type { SortedRun } from './sorted-run.js'

/** A record is the length of the key and of the attributes (two bytes each), followed by both. */
const HEAD_BYTES = 4
/** More than any record: a key has at most 256 bytes, and attributes are bounded when they are read. */
const LONGEST_RECORD = 32 * 1024

/** Writes the customers of a run to a new file. */
export async function writeSpill(path: string, run: SortedRun, bufferBytes: number): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    const buffer = new Uint8Array(Math.max(bufferBytes, LONGEST_RECORD))
    let used = 0
    for (let i = 0; i < run.count; i++) {
      const json = run.attributeJson(i)
      const length = HEAD_BYTES + run.end(i) - run.start(i) + json.length
      if (used + length > buffer.length) {
        await writeWhole(file, buffer.subarray(0, used))
        used = 0
      }
      writeRecord(buffer, used, run, i, json)
      used += length
    }
    await writeWhole(file, buffer.subarray(0, used))
  } finally {
    await file.close()
  }
}

function writeRecord(buffer: Uint8Array, at: number, run: SortedRun, index: number, json: Uint8Array): void {
  const { bytes } = run
  const start = run.start(index)
  const keyLength = run.end(index) - start
  buffer[at] = keyLength & 0xff
  buffer[at + 1] = keyLength >> 8
  buffer[at + 2] = json.length & 0xff
  buffer[at + 3] = json.length >> 8
  for (let i = 0; i < keyLength; i++) buffer[at + HEAD_BYTES + i] = bytes[start + i]!
  buffer.set(json, at + HEAD_BYTES + keyLength)
}

async function writeWhole(file: FileHandle, bytes: Uint8Array): Promise<void> {
  let at = 0
  while (at < bytes.length) at += (await file.write(bytes, at)).bytesWritten
}

/** Iterates over a spilled run with one buffer of it in memory. */
export class SpillCursor implements Cursor {
  bytes: Uint8Array
  start = 0
  keyEnd = 0
  end = 0
  private filled = 0
  private atFileEnd = false

  private constructor(
    readonly rank: number,
    private readonly file: FileHandle,
    bufferBytes: number,
  ) {
    this.bytes = new Uint8Array(Math.max(bufferBytes, LONGEST_RECORD))
  }

  static async open(path: string, rank: number, bufferBytes: number): Promise<SpillCursor> {
    return new SpillCursor(rank, await open(path, 'r'), bufferBytes)
  }

  next(): boolean | Promise<boolean> {
    return this.step() || (this.atFileEnd ? this.isOver() : this.refill())
  }

  async close(): Promise<void> {
    await this.file.close()
  }

  /** Moves to the next record if the buffer contains all of it. */
  private step(): boolean {
    const head = this.end
    if (head + HEAD_BYTES > this.filled) return false
    const { bytes } = this
    const start = head + HEAD_BYTES
    const keyEnd = start + (bytes[head]! | (bytes[head + 1]! << 8))
    const end = keyEnd + (bytes[head + 2]! | (bytes[head + 3]! << 8))
    if (end > this.filled) return false
    this.start = start
    this.keyEnd = keyEnd
    this.end = end
    return true
  }

  private async refill(): Promise<boolean> {
    this.bytes.copyWithin(0, this.end, this.filled)
    this.filled -= this.end
    this.end = 0
    while (this.filled < this.bytes.length) {
      const { bytesRead } = await this.file.read(this.bytes, this.filled, this.bytes.length - this.filled)
      this.filled += bytesRead
      if (bytesRead === 0) {
        this.atFileEnd = true
        break
      }
    }
    return this.step() || this.isOver()
  }

  private isOver(): false {
    if (this.end !== this.filled) throw new Error('a spilled run is cut short')
    return false
  }
}
