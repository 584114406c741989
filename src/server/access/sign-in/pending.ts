import { PENDING_SECONDS } from './cookies.js'
import type { Expected } from './provider.js'
import type { Seal } from './seal.js'

/** Names a session, without the secret by which somebody could enter. */
export interface Token {
  readonly person: string
  /** Under which the session is stored. */
  readonly id: string
}

/** A sign-in that has begun. Only the browser keeps it, so strangers who begin many fill nothing here. */
export interface Pending extends Expected {
  readonly returnTo: string
  /** The session that this browser had, which the new one replaces. */
  readonly before?: Token
}

const ABOUT = 'a sign-in that has begun'

export const sealPending = (seal: Seal, pending: Pending, now: number): string =>
  seal.seal('pending', ABOUT, JSON.stringify({ ...pending, until: now + PENDING_SECONDS * 1000 }))

/** Undefined for what was not sealed here, and for what is too old. */
export function openPending(seal: Seal, sealed: string, now: number): Pending | undefined {
  const text = seal.open('pending', ABOUT, sealed)
  if (text === undefined) return undefined
  const { until, ...pending } = JSON.parse(text) as Pending & { until: number }
  return now < until ? pending : undefined
}

const HOME = '/console/'
/** Printable ASCII without backslashes, which browsers take for slashes. */
const PAGE = /^\/console(?:\/(?!\/)[!-[\]-~]{0,1000})?$/

/** A page of the console to return to. Any other address would lead people who trust this server elsewhere. */
export function pageToReturnTo(given: string | undefined, ownOrigin: string): string | undefined {
  if (given === undefined) return HOME
  if (!PAGE.test(given) || !URL.canParse(given, ownOrigin)) return undefined
  const { origin, pathname } = new URL(given, ownOrigin)
  const isPage = pathname === '/console' || pathname.startsWith('/console/')
  return origin === ownOrigin && isPage ? given : undefined
}
