import { randomFillSync } from 'node:crypto'

const HYPHENS = [8, 13, 18, 23]
const DIGITS = Buffer.from('0123456789abcdef')

/** Random UUIDs as the ASCII that they are in a file, 36 bytes each, without anything between. */
export function randomUuids(count: number): Buffer {
  const random = randomFillSync(Buffer.allocUnsafe(16 * count))
  const ascii = Buffer.allocUnsafe(36 * count)
  let at = 0
  for (let i = 0; i < random.length; i++) {
    if (HYPHENS.includes(at % 36)) ascii[at++] = 0x2d
    ascii[at++] = DIGITS[random[i]! >>> 4]!
    ascii[at++] = DIGITS[random[i]! & 15]!
  }
  return ascii
}

/** The UUID at a place, as a new string each time, the way a request brings it. */
export function uuidAt(ascii: Buffer, index: number): string {
  return ascii.toString('latin1', 36 * index, 36 * index + 36)
}

/** As many of the UUIDs, each a string of its own. */
export function uuidStrings(ascii: Buffer, count: number): string[] {
  return Array.from({ length: count }, (_, i) => uuidAt(ascii, i))
}

const UUIDS_PER_CHUNK = 5000

/** The UUIDs one per line, as the body of an import. */
export function* uuidLines(ascii: Buffer): Generator<Buffer> {
  const count = ascii.length / 36
  for (let from = 0; from < count; from += UUIDS_PER_CHUNK) {
    const lines = Buffer.alloc(37 * Math.min(UUIDS_PER_CHUNK, count - from), '\n')
    for (let i = 0; 37 * i < lines.length; i++) {
      ascii.copy(lines, 37 * i, 36 * (from + i), 36 * (from + i + 1))
    }
    yield lines
  }
}
