import { CatracaError, invalid, isCatracaError } from '../core/errors.js'
import type { MaybePromise } from '../core/maybe-promise.js'
import { renderProblem } from '../server/http/problem.js'

/** What a service answers to a request that a guard refused. What is absent stays as it would be. */
export interface DenialResponse {
  status?: number
  headers?: Record<string, string>
  /** Text is sent as it is, everything else as JSON. */
  body?: unknown
}

/** Options that every adapter has. */
export interface GuardOptions<Request> {
  /** Requests that the guard does not judge, such as health checks. */
  skip?: (request: Request) => MaybePromise<boolean>
  /**
   * Called with mistakes of the service, which its caller cannot correct, at most once in ten seconds; `console.error`
   * when absent.
   */
  report?: (message: string, error: unknown) => void
}

export interface Refusal {
  pass: false
  status: number
  headers: Record<string, string>
  body: string
}

/** Continue, with headers for the response, or send this response instead. */
export type Gate =
  | {
      pass: true
      headers?: Record<string, string>
      /** Called when the response ends, possibly several times. The status is undefined if there was no response. */
      atEnd?: AtEnd | undefined
    }
  | Refusal

export type AtEnd = (status: number | undefined) => void

export const PASS: Gate = { pass: true }

export function refusalOf(error: unknown, requestId: string, otherStatus?: number): Refusal {
  return { pass: false, ...renderProblem(error, requestId, otherStatus) }
}

/** The answer of the service, where it has one of its own. */
export function withDenial(refusal: Refusal, denial: DenialResponse | undefined): Refusal {
  if (denial === undefined) return refusal
  const { status = refusal.status, body } = denial
  const given = lowerCase(denial.headers)
  if (body === undefined) return { ...refusal, status, headers: { ...refusal.headers, ...given } }
  const isText = typeof body === 'string'
  const type = isText ? 'text/plain; charset=utf-8' : 'application/json; charset=utf-8'
  const headers = { ...refusal.headers, 'content-type': type, ...given }
  return { pass: false, status, headers, body: isText ? body : JSON.stringify(body) }
}

const lowerCase = (headers: Record<string, string> = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

const REPORT_PAUSE_MS = 10_000
const reportedAt = new WeakMap<object, number>()

/** Limited in frequency, because every request would report the same. */
export function reportNow(
  options: Pick<GuardOptions<never>, 'report'>,
  message: string,
  error: unknown,
): void {
  const now = performance.now()
  if (now < (reportedAt.get(options) ?? 0)) return
  reportedAt.set(options, now + REPORT_PAUSE_MS)
  const { report = (text) => console.error(`catraca: ${text}`) } = options
  report(message, error)
}

/** Whether an error is of the engine, not of the request or the service. */
export const isOutage = (error: unknown): boolean =>
  isCatracaError(error, 'ENGINE_UNAVAILABLE') || isCatracaError(error, 'UNKNOWN_OUTCOME')

/** A mistake of the service: the caller learns nothing of it. */
export function mistake(message: string): CatracaError {
  return new CatracaError('INTERNAL', message)
}

/** The guard of a request: a field of the options, or of the instance that the options name. */
export function guardOf<Name extends string, Guard>(
  options: { readonly [key in Name]?: unknown } & { catraca?: { readonly [key in Name]: Guard } | undefined },
  name: Name,
): Guard {
  const guard = options.catraca?.[name] ?? (options[name] as Guard | undefined)
  if (guard !== undefined) return guard
  // A client has the methods of the HTTP API, not the guards.
  const isClient = typeof (options.catraca as { acquire?: unknown } | undefined)?.acquire === 'function'
  const message = isClient
    ? 'is a client: give connectCatraca(client) of catraca/remote'
    : `is required: an instance with ${name}, or a connection to a server`
  throw invalid('catraca', message)
}
