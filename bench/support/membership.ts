import { type EncodedPage, readPage } from '../../src/guards/allowlist/membership/page.js'
import { Snapshot } from '../../src/guards/allowlist/membership/snapshot.js'

/** Reads pages as a pod does that loads them, checksums included. */
export function openSnapshot(pages: readonly EncodedPage[]): Snapshot {
  const read = pages.map((page) => {
    const reading = readPage(page.bytes)
    if (!reading.ok) throw new Error(`A page cannot be used: ${reading.fault}`)
    return reading.value
  })
  const snapshot = Snapshot.of(read)
  if (!snapshot.ok) throw new Error(`The pages do not make a snapshot: ${snapshot.fault}`)
  return snapshot.value
}

const UUID_KEY_BYTES = 17

/**
 * Writes the key of the `i`-th of many customers: version 7 UUIDs in ascending order, 256 to the millisecond, whose
 * random part never changes. The hardest ids to spread, and they come in the order in which a store gives them.
 */
export class SequentialKeys {
  readonly bytes: Uint8Array
  private readonly view: DataView

  constructor(readonly count: number) {
    this.bytes = new Uint8Array(UUID_KEY_BYTES * count)
    this.view = new DataView(this.bytes.buffer)
  }

  /** Makes the block that begins with customer `first`. */
  fill(first: number): void {
    const { view } = this
    for (let i = 0; i < this.count; i++) {
      const at = UUID_KEY_BYTES * i
      const customer = first + i
      const millisecond = 0x18f3c5e7b20 + Math.floor(customer / 256)
      view.setUint8(at, 1)
      view.setUint32(at + 1, Math.floor(millisecond / 65_536))
      view.setUint16(at + 5, millisecond & 0xffff)
      view.setUint16(at + 7, 0x7000 | (customer & 255))
      view.setUint32(at + 9, 0x80000000)
      view.setUint32(at + 13, 42)
    }
  }

  start(i: number): number {
    return UUID_KEY_BYTES * i
  }

  end(i: number): number {
    return UUID_KEY_BYTES * (i + 1)
  }
}
