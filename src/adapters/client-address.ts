import { isIPv4, isIPv6 } from 'node:net'
import { invalid } from '../core/errors.js'

/**
 * The name of a client by its address. A network of IPv6 counts as one client, because its owner has all addresses in it:
 * by default the 64 bits that a subscriber gets at least.
 */
export function addressEntity(address: string, ipv6Bits = DEFAULT_IPV6_BITS): string {
  const text = withoutZone(address)
  // What is no address, such as `unknown`, is one client: its requests share one limit.
  if (isIPv4(address) || !isIPv6(text)) return `ip:${address}`
  const mapped = MAPPED.exec(text)
  if (mapped !== null) return `ip:${mapped[1]}`
  return `ip:${networkOf(text, ipv6Bits)}`
}

const DEFAULT_IPV6_BITS = 64
/** How sockets that listen on both families show IPv4. */
const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i

const withoutZone = (address: string): string => {
  const zone = address.indexOf('%')
  return zone < 0 ? address : address.slice(0, zone)
}

/** The first `bits` of an address: eight numbers in hexadecimal, those behind the network left out. */
function networkOf(address: string, bits: number): string {
  const words = wordsOf(address)
  const kept = Math.ceil(bits / 16)
  const rest = bits % 16
  if (rest > 0) words[kept - 1] = words[kept - 1]! & (0xffff << (16 - rest))
  const text = words
    .slice(0, kept)
    .map((word) => word.toString(16))
    .join(':')
  return kept === 8 ? text : `${text}::`
}

function wordsOf(address: string): number[] {
  const [head = '', tail] = address.split('::')
  const before = wordsIn(head)
  const after = tail === undefined ? [] : wordsIn(tail)
  const missing = tail === undefined ? 0 : 8 - before.length - after.length
  return [...before, ...new Array<number>(missing).fill(0), ...after]
}

function wordsIn(text: string): number[] {
  if (text === '') return []
  return text.split(':').flatMap((word) => {
    if (!word.includes('.')) return [Number.parseInt(word, 16)]
    const [a, b, c, d] = word.split('.').map(Number)
    return [a! * 256 + b!, c! * 256 + d!]
  })
}

export function checkIpv6Bits(bits: unknown): void {
  if (bits === undefined || (Number.isInteger(bits) && Number(bits) >= 16 && Number(bits) <= 128)) return
  throw invalid('ipv6Bits', 'must be a whole number from 16 to 128')
}

type Headers = { get(name: string): string | null } | Record<string, string | string[] | undefined>

/**
 * Reads the address of the client from `X-Forwarded-For`, for services behind proxies that append to it. Clients can write
 * whatever they like before what the proxies appended, so only the last `proxies` entries are believed: with one proxy
 * the last entry is the client. Use it only where every request passes through that many proxies.
 */
export function forwardedFor({
  proxies,
}: {
  proxies: number
}): (request: { headers: unknown }) => string | undefined {
  if (!Number.isInteger(proxies) || proxies < 1 || proxies > 10)
    throw invalid('proxies', 'must be a whole number from 1 to 10')
  return ({ headers }) => {
    const given = headers as Headers
    const value = typeof given.get === 'function' ? given.get('x-forwarded-for') : headerOf(given)
    const entry = value?.split(',').at(-proxies)?.trim()
    return entry === undefined ? undefined : withoutPort(entry)
  }
}

function headerOf(headers: Headers): string | undefined {
  const value = (headers as Record<string, string | string[] | undefined>)['x-forwarded-for']
  return Array.isArray(value) ? value.join(',') : value
}

/** Some proxies write `203.0.113.7:4711` and `[2001:db8::1]:4711`. */
function withoutPort(entry: string): string {
  const bracketed = /^\[([^\]]+)\](?::\d+)?$/.exec(entry)
  if (bracketed !== null) return bracketed[1]!
  const withPort = /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(entry)
  return withPort === null ? entry : withPort[1]!
}
