import type { IncomingMessage } from 'node:http'
import { TLSSocket } from 'node:tls'

/**
 * The rules of a server without API keys. Binding to loopback keeps other machines out, but not web pages: a browser
 * on this machine could send their requests. So the `Host` must be loopback (against DNS rebinding), and an `Origin`
 * must match it (against pages of other sites and other ports).
 */
const IPV4_LOOPBACK = /^127(?:\.(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}$/
const HOST_AND_PORT = /^(\[[^\]]*\]|[^:]*)(?::\d{1,5})?$/

/** An address or name that means this machine. */
export function isLoopbackName(name: string): boolean {
  const bare = name.startsWith('[') && name.endsWith(']') ? name.slice(1, -1) : name
  return bare.toLowerCase() === 'localhost' || bare === '::1' || IPV4_LOOPBACK.test(bare)
}

/** The address of the peer, which may be IPv4 mapped into IPv6. */
export function isLoopbackPeer(address: string | undefined): boolean {
  if (address === undefined) return false
  return isLoopbackName(address.startsWith('::ffff:') ? address.slice(7) : address)
}

export function isLoopbackHost(host: string | undefined): boolean {
  const name = HOST_AND_PORT.exec(host ?? '')?.[1]
  return name !== undefined && isLoopbackName(name)
}

/** Whether a browser sent this for a page of another origin. Another port of this machine is another origin. */
export function isForeign({ method, headers, socket }: IncomingMessage): boolean {
  const { origin, host = '' } = headers
  if (origin !== undefined && origin !== ownOrigin(host, socket instanceof TLSSocket)) return true
  // Following a link is harmless: the page with the link cannot read the response.
  const followedLink = method === 'GET' && headers['sec-fetch-mode'] === 'navigate'
  const site = headers['sec-fetch-site']
  return (site === 'cross-site' || site === 'same-site') && !followedLink
}

/** As browsers write an origin: in lower case, without the default port of the scheme. */
function ownOrigin(host: string, isTls: boolean): string | undefined {
  const url = `${isTls ? 'https' : 'http'}://${host}`
  return URL.canParse(url) ? new URL(url).origin : undefined
}
