export const SLOTS = 16_384

const TABLE = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1
  return crc & 0xffff
})

/** The slot of a key in Redis Cluster: CRC-16/XMODEM of the key, or of the text in its first braces. */
export function slotOf(key: string): number {
  const bytes = Buffer.from(hashed(key))
  let crc = 0
  for (let i = 0; i < bytes.length; i++) crc = ((crc << 8) ^ TABLE[((crc >> 8) ^ bytes[i]!) & 0xff]!) & 0xffff
  return crc % SLOTS
}

function hashed(key: string): string {
  const open = key.indexOf('{')
  if (open < 0) return key
  const close = key.indexOf('}', open + 1)
  return close > open + 1 ? key.slice(open + 1, close) : key
}
