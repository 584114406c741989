import { ErrorReply } from '@redis/client/dist/lib/errors.js'
import { CatracaError, isCatracaError } from '../../../core/errors.js'

/** How a call without a reply ended. Only `not-sent` may be sent again in every case. */
export type Missing = 'not-sent' | 'lost' | 'timed-out'

/** Internal to this folder; callers get a CatracaError. */
export class NoReply extends Error {
  constructor(
    readonly missing: Missing,
    message: string,
  ) {
    super(message)
    // The usual name of such errors: metrics recognise timeouts by the name of the cause.
    if (missing === 'timed-out') this.name = 'TimeoutError'
  }
}

export interface Refusal {
  kind: 'moved' | 'ask' | 'later' | 'not-primary'
  /** Target of MOVED and ASK as `HOST:PORT`. The host is empty if it is that of the node that answered. */
  target?: string
}

const LATER = new Set(['LOADING', 'CLUSTERDOWN', 'TRYAGAIN', 'BUSY'])
const NOT_PRIMARY = new Set(['READONLY', 'MASTERDOWN'])

/** Refusals that come before anything is executed. The command may be sent again, even a write. */
export function refusalOf(message: string): Refusal | undefined {
  const [code = '', , target = ''] = message.split(' ', 3)
  if (code === 'MOVED') return { kind: 'moved', target }
  if (code === 'ASK') return { kind: 'ask', target }
  if (LATER.has(code)) return { kind: 'later' }
  return NOT_PRIMARY.has(code) ? { kind: 'not-primary' } : undefined
}

export const codeOf = (message: string): string => message.slice(0, Math.max(0, message.indexOf(' ')))

export function unavailable(reason: string): CatracaError {
  return new CatracaError('ENGINE_UNAVAILABLE', `Redis is not available: ${reason}`)
}

/** The error of a call that got no reply. */
export function withoutReply(failure: NoReply, command: string, write: boolean): CatracaError {
  if (failure.missing === 'not-sent') return unavailable(failure.message)
  const message = `Redis gave no answer to ${command}: ${failure.message}`
  return new CatracaError(write ? 'UNKNOWN_OUTCOME' : 'ENGINE_UNAVAILABLE', message, { cause: failure })
}

const UNAVAILABLE_CODES = new Set([
  'NOREPLICAS',
  'MISCONF',
  'NOAUTH',
  'WRONGPASS',
  'NOPERM',
  'NOPROTO',
  'NOSCRIPT',
])

/** The error of a command that got an error reply. */
export function refused(message: string, command: string): CatracaError {
  const code = codeOf(message)
  const text = `Redis refused ${command}: ${withoutArguments(message)}`
  if (code === 'OOM') return new CatracaError('STORE_FULL', text)
  if (code === 'WRONGTYPE') return new CatracaError('STORE_CORRUPT', text)
  if (UNAVAILABLE_CODES.has(code) || refusalOf(message) !== undefined) {
    return new CatracaError('ENGINE_UNAVAILABLE', text)
  }
  return new CatracaError('INTERNAL', text)
}

/** Another program has written to one of our keys. Its value is neither read nor changed. */
export function foreign(key: string, what: string): CatracaError {
  return new CatracaError(
    'STORE_CORRUPT',
    `the Redis key ${key} holds ${what}: another program has written there`,
  )
}

/** For reads that leave out what another program put in the place. */
export function unlessForeign(error: unknown): undefined {
  if (!isForeign(error)) throw error
}

export const isForeign = (error: unknown): boolean => isCatracaError(error, 'STORE_CORRUPT')

/** The error of an unknown command repeats its arguments, which may contain a password or a customer id. */
const withoutArguments = (message: string): string => message.replace(/,? with args beginning with:.*$/s, '')

/** The reason of a failed connection, without secrets. */
export function describeFailure(error: unknown, password: string | undefined): string {
  if (error instanceof CatracaError) return error.message
  const { message, code } = error as { message?: string; code?: string }
  let text = message || code || String(error)
  if (error instanceof AggregateError && message === '') {
    text = error.errors.map((each: unknown) => describeFailure(each, password)).join('; ')
  }
  text = withoutArguments(text)
  return password === undefined || password === '' ? text : text.replaceAll(password, '***')
}

/** For work that follows a completed change: if it fails, the error must not suggest that nothing was changed. */
export async function behindChange<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!isCatracaError(error, 'ENGINE_UNAVAILABLE')) throw error
    throw new CatracaError(
      'UNKNOWN_OUTCOME',
      `the change was made, but could not be finished: ${error.message}`,
    )
  }
}

export const isErrorReply = (error: unknown): error is ErrorReply => error instanceof ErrorReply
