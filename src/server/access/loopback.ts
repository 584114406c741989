/**
 * The rules of a server without API keys. Binding to loopback keeps other machines out, but not web pages:
 * a browser on this machine would carry their requests in. So the `Host` must be loopback (against DNS
 * rebinding) and no `Origin` foreign (against cross-site requests).
 */
const IPV4_LOOPBACK = /^127(?:\.(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}$/
const HOST_AND_PORT = /^(\[[^\]]*\]|[^:]*)(?::\d{1,5})?$/

/** An address or name that means this machine. */
export function isLoopbackName(name: string): boolean {
  const bare = name.startsWith('[') && name.endsWith(']') ? name.slice(1, -1) : name
  return bare.toLowerCase() === 'localhost' || bare === '::1' || IPV4_LOOPBACK.test(bare)
}

/** The peer as the socket names it, where IPv4 may come mapped into IPv6. */
export function isLoopbackPeer(address: string | undefined): boolean {
  if (address === undefined) return false
  return isLoopbackName(address.startsWith('::ffff:') ? address.slice(7) : address)
}

export function isLoopbackHost(host: string | undefined): boolean {
  const name = HOST_AND_PORT.exec(host ?? '')?.[1]
  return name !== undefined && isLoopbackName(name)
}

export interface BrowserHeaders {
  method: string | undefined
  origin: string | undefined
  secFetchSite: string | undefined
  secFetchMode: string | undefined
}

/** Whether a browser sent this on behalf of a page from elsewhere. */
export function isForeign({ method, origin, secFetchSite, secFetchMode }: BrowserHeaders): boolean {
  if (origin !== undefined && !isLoopbackOrigin(origin)) return true
  // Following a link is harmless: the page that holds it never sees the answer.
  const followedLink = method === 'GET' && secFetchMode === 'navigate'
  return secFetchSite === 'cross-site' && !followedLink
}

function isLoopbackOrigin(origin: string): boolean {
  const [, scheme, host] = /^(https?):\/\/(.*)$/.exec(origin) ?? []
  return scheme !== undefined && isLoopbackHost(host)
}
