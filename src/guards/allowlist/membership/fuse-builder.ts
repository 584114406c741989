import { CatracaError } from '../../../core/errors.js'
import {
  type Fingerprints,
  type FuseShape,
  fingerprint,
  firstSlot,
  fuseShape,
  mixHigh,
  mixLow,
  secondSlot,
  thirdSlot,
} from './fuse.js'

/** About one attempt in a few dozen fails. This many failures in a row mean that the input is wrong. */
const MAX_ATTEMPTS = 64
/** A slot's link: the XOR of the members that use it (low 20 bits), and their number. */
const MEMBER_BITS = 20
const MEMBER_MASK = (1 << MEMBER_BITS) - 1
const ONE_MEMBER = 1 << MEMBER_BITS

/** A set of hashes for which slots were found. `assign` writes its fingerprints. */
export interface FuseFit extends FuseShape {
  count: number
  seed: number
}

/** Builds filters one after another in the same memory. */
export class FuseBuilder {
  /** Hashes mixed with the seed. */
  private mixed = new Uint32Array(0)
  private links = new Uint32Array(0)
  private stack = new Uint32Array(0)
  /** Members and their slots, in the order of peeling. */
  private peeledMember = new Uint32Array(0)
  private peeledSlot = new Uint32Array(0)

  /** Finds a slot for each of the hashes [from, to), which may be reordered to drop duplicates. */
  fit(hashes: Uint32Array, from: number, to: number): FuseFit {
    let end = to
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const count = end - from
      const fit = { ...fuseShape(count), count, seed: Math.imul(attempt + 1, 0x9e3779b9) }
      this.reserve(count, fit.slotCount)
      this.link(hashes, from, fit)
      if (this.peel(fit)) return fit
      // Equal hashes share all three slots, so they never peel. They are rare, so duplicates are removed only now.
      if (attempt === 0) end = dropRepeats(hashes, from, to)
    }
    throw new CatracaError('INTERNAL', `No filter was found for ${end - from} hashes`)
  }

  private reserve(count: number, slotCount: number): void {
    if (count > MEMBER_MASK) throw new CatracaError('INTERNAL', `${count} hashes are too many for a page`)
    if (this.peeledMember.length < count) {
      this.mixed = new Uint32Array(2 * count)
      this.peeledMember = new Uint32Array(count)
      this.peeledSlot = new Uint32Array(count)
    }
    if (this.links.length < slotCount) {
      this.links = new Uint32Array(slotCount)
      this.stack = new Uint32Array(slotCount)
    }
  }

  /** Links each slot to the members that use it. */
  private link(hashes: Uint32Array, from: number, fit: FuseFit): void {
    const { mixed, links } = this
    const { count, seed, segmentCount, segmentLengthLog2 } = fit
    links.fill(0, 0, fit.slotCount)
    for (let member = 0, at = 2 * from; member < count; member++, at += 2) {
      const x = mixLow(hashes[at + 1]!, seed)
      const y = mixHigh(hashes[at]!, x)
      mixed[2 * member] = x
      mixed[2 * member + 1] = y
      const first = firstSlot(x, segmentCount, segmentLengthLog2)
      const second = secondSlot(first, y, segmentLengthLog2)
      const third = thirdSlot(first, y, segmentLengthLog2)
      links[first] = (links[first]! ^ member) + ONE_MEMBER
      links[second] = (links[second]! ^ member) + ONE_MEMBER
      links[third] = (links[third]! ^ member) + ONE_MEMBER
    }
  }

  /** Repeatedly removes a member that is alone in a slot. True when none is left. */
  private peel(fit: FuseFit): boolean {
    const { mixed, links, stack, peeledMember, peeledSlot } = this
    const { count, segmentCount, segmentLengthLog2 } = fit
    let height = 0
    let peeled = 0
    let uses = 0
    for (let slot = 0; slot < fit.slotCount; slot++) {
      const members = links[slot]! >>> MEMBER_BITS
      uses += members
      if (members === 1) stack[height++] = slot
    }
    // A hash repeated thousands of times overflows the count of its slots.
    if (uses !== 3 * count) return false
    while (height > 0) {
      const slot = stack[--height]!
      const link = links[slot]!
      if (link >>> MEMBER_BITS !== 1) continue
      const member = link & MEMBER_MASK
      peeledMember[peeled] = member
      peeledSlot[peeled++] = slot
      const y = mixed[2 * member + 1]!
      const first = firstSlot(mixed[2 * member]!, segmentCount, segmentLengthLog2)
      const second = secondSlot(first, y, segmentLengthLog2)
      const third = thirdSlot(first, y, segmentLengthLog2)
      const firstLink = (links[first] = (links[first]! ^ member) - ONE_MEMBER)
      if (firstLink >>> MEMBER_BITS === 1) stack[height++] = first
      const secondLink = (links[second] = (links[second]! ^ member) - ONE_MEMBER)
      if (secondLink >>> MEMBER_BITS === 1) stack[height++] = second
      const thirdLink = (links[third] = (links[third]! ^ member) - ONE_MEMBER)
      if (thirdLink >>> MEMBER_BITS === 1) stack[height++] = third
    }
    return peeled === count
  }

  /** Writes the fingerprints of the last fit into slots that are all zero. */
  assign(fit: FuseFit, slots: Fingerprints): void {
    const { mixed, peeledMember, peeledSlot } = this
    const { segmentCount, segmentLengthLog2 } = fit
    const shift = fingerprintShift(slots)
    for (let i = fit.count - 1; i >= 0; i--) {
      const member = peeledMember[i]!
      const x = mixed[2 * member]!
      const y = mixed[2 * member + 1]!
      const first = firstSlot(x, segmentCount, segmentLengthLog2)
      const second = secondSlot(first, y, segmentLengthLog2)
      const third = thirdSlot(first, y, segmentLengthLog2)
      // The member's own slot is still zero here, so it does not matter which of the three it is.
      slots[peeledSlot[i]!] = (fingerprint(x, y) >>> shift) ^ slots[first]! ^ slots[second]! ^ slots[third]!
    }
    this.readBack(fit, slots)
  }

  /** Verifies the page: a page that lacks a member would deny that customer without any further check. */
  private readBack(fit: FuseFit, slots: Fingerprints): void {
    const { mixed } = this
    const { segmentCount, segmentLengthLog2 } = fit
    const shift = fingerprintShift(slots)
    let wrong = 0
    for (let at = 0; at < 2 * fit.count; at += 2) {
      const x = mixed[at]!
      const y = mixed[at + 1]!
      const first = firstSlot(x, segmentCount, segmentLengthLog2)
      const second = secondSlot(first, y, segmentLengthLog2)
      const third = thirdSlot(first, y, segmentLengthLog2)
      wrong |= (fingerprint(x, y) >>> shift) ^ slots[first]! ^ slots[second]! ^ slots[third]!
    }
    if (wrong !== 0) throw new CatracaError('INTERNAL', 'A filter page does not hold all of its members')
  }
}

const fingerprintShift = (slots: Fingerprints): number => 32 - 8 * slots.BYTES_PER_ELEMENT

/** Sorts the hashes [from, to) and moves the distinct ones to the front. Returns their end. */
export function dropRepeats(hashes: Uint32Array, from: number, to: number): number {
  new BigUint64Array(hashes.buffer, hashes.byteOffset + 8 * from, to - from).sort()
  let end = from
  for (let i = from; i < to; i++) {
    if (i > from && hashes[2 * i] === hashes[2 * i - 2] && hashes[2 * i + 1] === hashes[2 * i - 1]) continue
    hashes[2 * end] = hashes[2 * i]!
    hashes[2 * end + 1] = hashes[2 * i + 1]!
    end++
  }
  return end
}
