import { createHash } from 'node:crypto'
import { CatracaError } from '../../../core/errors.js'
import type { Place } from './strategy.js'

/**
 * A customer's place in a wave: MurmurHash3_x86_32, seed 0, of the ASCII of `salt + customerId`, divided by 2^32.
 * It is published with vectors (`docs/reference/wave-hash.md`) and must never change: another hash would move
 * customers in and out of every open wave.
 */
const SALT = /^[0-9a-f]{32}$/
/** The salt of waves made by another program, whose layout has none. They never get one later. */
const NO_SALT = ''
const STEPS = 2 ** 32

/**
 * The hash state after the salt, computed once per list. The salt is eight whole blocks, so continuing from here
 * equals hashing salt and customer together.
 */
export function saltState(salt: string): number {
  if (!SALT.test(salt))
    throw new CatracaError('INTERNAL', 'the salt of a wave must be 32 lower-case hexadecimal characters')
  return absorb(0, salt)
}

/** The 32-bit hash of a customer in canonical spelling. */
export function hashFromState(state: number, customerId: string): number {
  return finish(absorb(state, customerId), 32 + customerId.length)
}

/** The customer's place in [0, 1), in the wave with this salt. */
export function placeBy(salt: string): Place {
  if (salt === NO_SALT) return unsaltedPlace
  const state = saltState(salt)
  return (customerId) => hashFromState(state, customerId) / STEPS
}

/**
 * The place in a wave without salt: the first 32 bits of the MD5 of the customer id, the only rule of the source
 * design that spreads customers. The same customers come first in all such waves.
 */
function unsaltedPlace(customerId: string): number {
  return createHash('md5').update(customerId).digest().readUInt32BE(0) / STEPS
}

/** MurmurHash3_x86_32 of an ASCII text, unsigned. */
export function murmur3(text: string, seed: number): number {
  return finish(absorb(seed, text), text.length)
}

/** Treats character codes as bytes: identifiers and salts are ASCII. */
function absorb(seed: number, text: string): number {
  const length = text.length
  const tailStart = length & ~3
  let hash = seed | 0
  for (let i = 0; i < tailStart; i += 4) {
    const block =
      text.charCodeAt(i) |
      (text.charCodeAt(i + 1) << 8) |
      (text.charCodeAt(i + 2) << 16) |
      (text.charCodeAt(i + 3) << 24)
    hash ^= scramble(block)
    hash = (Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64) | 0
  }
  if (tailStart === length) return hash
  let tail = 0
  for (let i = length - 1; i >= tailStart; i--) tail = (tail << 8) | text.charCodeAt(i)
  return hash ^ scramble(tail)
}

function scramble(block: number): number {
  const product = Math.imul(block, 0xcc9e2d51)
  return Math.imul((product << 15) | (product >>> 17), 0x1b873593)
}

function finish(state: number, byteLength: number): number {
  let hash = state ^ byteLength
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
