import { randomBytes } from 'node:crypto'

const SANE = /^[A-Za-z0-9._~:@+=-]{1,128}$/
const PREFIX = `${randomBytes(6).toString('hex')}-`
let counter = 0

/** The prefix is unique among processes, and the counter within one. Far cheaper than a UUID per request. */
export function newRequestId(): string {
  return PREFIX + (++counter).toString(36)
}

/**
 * The caller's id when it is safe to log and return, otherwise a new one. An id that looks like a generated one is
 * replaced.
 */
export function requestIdFrom(header: unknown): string {
  return typeof header === 'string' && SANE.test(header) && isCallersId(header) ? header : newRequestId()
}

/** Whether the caller chose this id. Such an id proves nothing. */
export function isCallersId(id: string): boolean {
  return !id.startsWith(PREFIX)
}
