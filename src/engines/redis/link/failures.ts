import { ErrorReply } from '@redis/client'
import { CatracaError, isCatracaError } from '../../../core/errors.js'

/** How a call ended that got no reply. Only what was certainly not sent may be sent again blindly. */
export type Missing = 'not-sent' | 'lost' | 'timed-out'

/** Stays inside this folder; callers get a CatracaError. */
export class NoReply extends Error {
  constructor(
    readonly missing: Missing,
    message: string,
  ) {
    super(message)
    // As it is called everywhere else: whoever counts timeouts looks at the name of the cause.
    if (missing === 'timed-out') this.name = 'TimeoutError'
  }
}

export interface Refusal {
  kind: 'moved' | 'ask' | 'later' | 'not-primary'
  /** Where MOVED and ASK point to, as `HOST:PORT`; the host is empty when it is that of the node that answered. */
  target?: string
}

const LATER = new Set(['LOADING', 'CLUSTERDOWN', 'TRYAGAIN', 'BUSY'])
const NOT_PRIMARY = new Set(['READONLY', 'MASTERDOWN'])

/** Refusals that come before anything is executed, so that the same command may be sent again, even a write. */
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

/** The error of a call for which no reply came. */
export function withoutReply(failure: NoReply, command: string, write: boolean): CatracaError {
  if (failure.missing === 'not-sent') return unavailable(failure.message)
  const message = `Redis gave no answer to ${command}: ${failure.message}`
  return new CatracaError(write ? 'UNKNOWN_OUTCOME' : 'ENGINE_UNAVAILABLE', message, { cause: failure })
}

const UNAVAILABLE_CODES = new Set(['NOREPLICAS', 'MISCONF', 'NOAUTH', 'WRONGPASS', 'NOPERM', 'NOPROTO'])

/** The error of a command that the server answered with an error of its own. */
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

/** Another program has written under a key of ours. What it holds is neither read nor changed. */
export function foreign(key: string, what: string): CatracaError {
  return new CatracaError(
    'STORE_CORRUPT',
    `the Redis key ${key} holds ${what}: another program has written there`,
  )
}

export const isForeign = (error: unknown): boolean => isCatracaError(error, 'STORE_CORRUPT')

/** A server that does not know a command repeats its arguments, which may be a password or a customer. */
const withoutArguments = (message: string): string => message.replace(/,? with args beginning with:.*$/s, '')

/** What may be told of a failed connection. */
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

/** For what comes behind a change that was made: that it failed must not look as if nothing had been changed. */
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
