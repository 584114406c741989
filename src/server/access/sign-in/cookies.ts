import type { IncomingMessage } from 'node:http'

/** `session`: who is signed in. `pending`: a sign-in that has begun in this browser. */
type CookieKind = 'session' | 'pending'

const NAMES = { session: 'catraca_session', pending: 'catraca_signing_in' } as const
export const PENDING_SECONDS = 600

/**
 * Browsers take a cookie named `__Host-…` only over TLS and from this very host, so no neighbour under the same domain can
 * plant one. Without TLS, on this machine only, there is no such name.
 */
const cookieName = (kind: CookieKind, isSecure: boolean): string =>
  `${isSecure ? '__Host-' : ''}${NAMES[kind]}`

/** Only these may stand around a cookie. To trim more, such as U+00A0, would take another name for `__Host-…`. */
const AROUND = /^[ \t]+|[ \t]+$/g

/** The value of a cookie. Undefined also if it came twice: then somebody else set one of them. */
export function readCookie(
  request: IncomingMessage,
  kind: CookieKind,
  isSecure: boolean,
): string | undefined {
  const name = `${cookieName(kind, isSecure)}=`
  const found = (request.headers.cookie ?? '')
    .split(';')
    .map((part) => part.replaceAll(AROUND, ''))
    .filter((part) => part.startsWith(name))
  return found.length === 1 ? found[0]!.slice(name.length) : undefined
}

/**
 * `Strict`: other sites cannot make the browser send the session, not even by a link. The pending cookie must come with
 * the provider's redirect, which is a link from another site. An empty value deletes the cookie.
 */
export function setCookie(kind: CookieKind, value: string, isSecure: boolean): string {
  const age = value === '' ? '; Max-Age=0' : kind === 'pending' ? `; Max-Age=${PENDING_SECONDS}` : ''
  const sameSite = kind === 'session' ? 'Strict' : 'Lax'
  return `${cookieName(kind, isSecure)}=${value}; Path=/; HttpOnly; SameSite=${sameSite}${isSecure ? '; Secure' : ''}${age}`
}
