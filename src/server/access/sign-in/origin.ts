import type { IncomingMessage } from 'node:http'

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Whether a request with a session comes from a page of another site. Browsers send the cookie by themselves, so this and
 * the `SameSite` of the cookie stand in for a secret in the request. No page can set these headers.
 */
export function isFromElsewhere({ method = '', headers }: IncomingMessage, ownOrigin: string): boolean {
  const { origin } = headers
  const site = headers['sec-fetch-site']
  if (origin !== undefined && origin !== ownOrigin) return true
  // `none`: the person typed the address, which changes nothing.
  const isOwn = site === 'same-origin' || (site === 'none' && SAFE.has(method))
  if (site !== undefined && !isOwn) return true
  // Every browser sends an `Origin` with what may change something.
  return !SAFE.has(method) && origin === undefined && site === undefined
}
