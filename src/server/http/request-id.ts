import { randomBytes } from 'node:crypto'

const SANE = /^[A-Za-z0-9._~:@+=-]{1,128}$/
const prefix = randomBytes(6).toString('hex')
let counter = 0

/** Unique among processes by its prefix, within one by its counter: far cheaper than a UUID per request. */
export function newRequestId(): string {
  return `${prefix}-${(++counter).toString(36)}`
}

/** The caller's own id when it is fit to be logged and sent back, otherwise a new one: so is one that looks like ours. */
export function requestIdFrom(header: unknown): string {
  return typeof header === 'string' && SANE.test(header) && isCallersId(header) ? header : newRequestId()
}

/** Whether a caller chose this id, which then proves nothing. */
export function isCallersId(id: string): boolean {
  return !id.startsWith(`${prefix}-`)
}
