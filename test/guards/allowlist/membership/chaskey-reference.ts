/**
 * Chaskey as its paper puts it, byte by byte and slow, with the number of rounds open: the published vectors are
 * for 8 rounds, the standard asks for 12. Only to compare with.
 */
export type Words = [number, number, number, number]

const rotate = (x: number, bits: number): number => ((x << bits) | (x >>> (32 - bits))) >>> 0
const plus = (a: number, b: number): number => (a + b) >>> 0
const xor = (a: Words, b: Words): Words => a.map((word, i) => (word ^ b[i]!) >>> 0) as Words

function permute([a, b, c, d]: Words, rounds: number): Words {
  for (let round = 0; round < rounds; round++) {
    a = plus(a, b)
    b = (rotate(b, 5) ^ a) >>> 0
    a = rotate(a, 16)
    c = plus(c, d)
    d = (rotate(d, 8) ^ c) >>> 0
    a = plus(a, d)
    d = (rotate(d, 13) ^ a) >>> 0
    c = plus(c, b)
    b = (rotate(b, 7) ^ c) >>> 0
    c = rotate(c, 16)
  }
  return [a, b, c, d]
}

function words(bytes: Uint8Array, at: number): Words {
  const view = new DataView(bytes.buffer, bytes.byteOffset)
  return [0, 4, 8, 12].map((i) => view.getUint32(at + i, true)) as Words
}

function double(block: Uint8Array): Uint8Array {
  let value = 0n
  for (const byte of [...block].reverse()) value = (value << 8n) | BigInt(byte)
  value <<= 1n
  if (value >> 128n) value = (value & ((1n << 128n) - 1n)) ^ 0x87n
  return Uint8Array.from({ length: 16 }, (_, i) => Number((value >> BigInt(8 * i)) & 0xffn))
}

/** `complete` says whether the message fills its last block; by the standard it does when its length says so. */
export function chaskey(
  key: Uint8Array,
  message: Uint8Array,
  rounds: number,
  complete = message.length > 0 && message.length % 16 === 0,
): Words {
  const once = double(key)
  const subkey = complete ? once : double(once)
  const padded = complete ? message : new Uint8Array(16 * (Math.floor(message.length / 16) + 1))
  if (!complete) {
    padded.set(message)
    padded[message.length] = 1
  }
  let state = words(key, 0)
  for (let at = 0; at < padded.length - 16; at += 16) state = permute(xor(state, words(padded, at)), rounds)
  state = xor(xor(state, words(padded, padded.length - 16)), words(subkey, 0))
  return xor(permute(state, rounds), words(subkey, 0))
}
