import { randomUUID } from 'node:crypto'
import { encodeIdentifier, encodeName } from '../core/encode-identifier.js'
import { CatracaError, invalid } from '../core/errors.js'
import { type Fields, KnownFields } from '../core/fields.js'
import { identifier } from '../core/identifiers.js'
import type { Held } from '../guards/idempotency/held-claim.js'
import type { HoldResult } from '../guards/idempotency/index.js'
import { refusalError } from '../guards/idempotency/refusals.js'
import type { Ending, HoldRequest, WorkContext } from '../guards/idempotency/types.js'
import { type RenderedProblem, renderProblem } from '../server/http/problem.js'
import { asAnswer, type HeaderReader, type HttpAnswer, recordResponse } from './http-answer.js'
import { parseExpirySeconds, parseIdempotencyKey } from './idempotency-key.js'

/** What the adapters of all frameworks have in common. */
export interface IdempotencyOptions<Request>
  extends Pick<HoldRequest, 'leaseMs' | 'waitMs' | 'onLeaseExpired' | 'onUnavailable'> {
  idempotency: { hold(request: HoldRequest): Promise<HoldResult> }
  operation: string | ((request: Request) => string)
  /** Whether a request without a key is refused (the default) or done without any guarantee. */
  required?: boolean | ((request: Request) => boolean)
  /** Methods that are guarded; POST and PATCH when absent. */
  methods?: readonly string[]
  /** Whose key it is, so that callers cannot get each other's answers; without it all keys are one caller's. */
  caller?: (request: Request) => string
  /** What makes it this request; method, path and body when absent. */
  payload?: (request: Request) => unknown
  /** The body as it came, for keys that another program may have used: see the guide of shared tables. */
  rawPayload?: (request: Request) => string | Uint8Array | undefined
  /** Headers of the answer that are kept, in lower case; those that describe the body, and a few, when absent. */
  keptHeaders?: readonly string[]
  /** Largest body of an answer that is kept; of a larger one all but the body is. 1 MiB when absent. */
  maxBodyBytes?: number
  /** What becomes of the record, by the answer; see `endingOf`. */
  ending?: (answer: { status: number }) => Ending
}

const FIELDS: Fields<IdempotencyOptions<unknown>> = {
  ...{ idempotency: true, operation: true, required: true, methods: true, caller: true, payload: true },
  ...{ rawPayload: true, keptHeaders: true, maxBodyBytes: true, ending: true },
  ...{ leaseMs: true, waitMs: true, onLeaseExpired: true, onUnavailable: true },
}
const KNOWN = new KnownFields(FIELDS)
const KNOWN_OF_FETCH = new KnownFields({ ...FIELDS, maxRequestBytes: true })

/** When the adapter is made: a mistake should not wait for the first request. */
export const checkIdempotencyOptions = (options: object): void => KNOWN.check(options)
export const checkFetchOptions = (options: object): void => KNOWN_OF_FETCH.check(options)

/** What a framework tells of a request. */
export interface FrameworkRequest {
  method: string
  path: string
  header: HeaderReader
  /** Asked for only when nobody gave a payload. */
  body(): unknown
}

export type Start =
  | { go: 'on' }
  | { go: 'guarded'; claim: Held }
  | { go: 'replay'; answer: HttpAnswer }
  | { go: 'refuse'; problem: RenderedProblem }

const DEFAULT_METHODS = ['POST', 'PATCH']
const DEFAULT_MAX_BODY_BYTES = 1024 * 1024

export const maxBodyBytes = (options: { maxBodyBytes?: number }): number =>
  options.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES

const contexts = new WeakMap<object, WorkContext>()

/** What a handler may want to know of the claim it works under; undefined where there is none. */
export function idempotencyContext(request: object): WorkContext | undefined {
  return contexts.get(request)
}

/** Claims one request by its key. Whatever stands against it becomes a problem, or the answer of the first time. */
export async function startRequest<Request>(
  options: IdempotencyOptions<Request>,
  request: Request,
  asked: FrameworkRequest,
): Promise<Start> {
  const { methods = DEFAULT_METHODS, required = true } = options
  if (!methods.includes(asked.method)) return { go: 'on' }
  try {
    const given = parseIdempotencyKey(asked.header('idempotency-key'))
    if (given === undefined) {
      const isRequired = typeof required === 'function' ? required(request) : required
      if (!isRequired) return { go: 'on' }
      throw invalid('Idempotency-Key', 'is required')
    }
    const start = toStart(await options.idempotency.hold(await toHold(options, request, asked, given)))
    if (start.go === 'guarded') contexts.set(request as object, start.claim.context)
    return start
  } catch (error) {
    return { go: 'refuse', problem: renderProblem(error, requestId(asked)) }
  }
}

async function toHold<Request>(
  options: IdempotencyOptions<Request>,
  request: Request,
  asked: FrameworkRequest,
  given: string,
): Promise<HoldRequest> {
  const { operation, caller, payload, leaseMs, waitMs, onLeaseExpired, onUnavailable } = options
  const raw = options.rawPayload?.(request)
  const key = identifier('Idempotency-Key', encodeIdentifier(given, 'Idempotency-Key'))
  const { method, path } = asked
  const expirySeconds = parseExpirySeconds(asked.header('idempotency-expiry-seconds'))
  return {
    operation: typeof operation === 'string' ? operation : operation(request),
    // Without `:` in whose it is, no caller can spell the key of another.
    key: caller === undefined ? key : `${encodeName(caller(request), 'caller')}:${key}`,
    payload: payload === undefined ? { method, path, body: await asked.body() } : payload(request),
    ...(raw !== undefined && { rawPayload: raw }),
    ...(leaseMs !== undefined && { leaseMs }),
    ...(waitMs !== undefined && { waitMs }),
    ...(onLeaseExpired !== undefined && { onLeaseExpired }),
    ...(onUnavailable !== undefined && { onUnavailable }),
    ...(expirySeconds !== undefined && { expirySeconds }),
  }
}

function toStart(held: HoldResult): Start {
  switch (held.outcome) {
    case 'held':
      return { go: 'guarded', claim: held.claim }
    case 'replayed':
      return { go: 'replay', answer: checkedAnswer(held.value) }
    case 'omitted':
      throw notKept({ omittedBytes: held.sizeBytes })
    case 'refused':
      throw refusalError(held)
  }
}

/** What was recorded under this key by other means is no answer to give to a browser. */
function checkedAnswer(value: unknown): HttpAnswer {
  const answer = asAnswer(value)
  if (answer === undefined) throw notKept({})
  return answer
}

const notKept = (facts: Record<string, unknown>): CatracaError =>
  new CatracaError('IDEMPOTENCY_ANSWER_NOT_KEPT', 'this was done before, and its answer was not kept', {
    facts,
  })

/** What of an answer its ending depends on. */
export interface Given {
  status: number
  header: HeaderReader
  /** Undefined: too large, or not seen. */
  body: Uint8Array | undefined
  /** One of this package's guards refused before anything was done. */
  isRefusal: boolean
}

/** Ends the claim by the answer. A problem takes its place when it cannot be recorded as the answer. */
export async function endRequest<Request>(
  options: IdempotencyOptions<Request>,
  claim: Held,
  { status, header, body, isRefusal }: Given,
  asked: FrameworkRequest,
): Promise<RenderedProblem | undefined> {
  const ending = isRefusal ? 'release' : chosenEnding(options, status)
  if (ending !== 'complete') {
    // A record that cannot be told stays in progress until its lease has passed; the answer is the same.
    await (ending === 'fail' ? claim.fail(`status ${status}`) : claim.release()).catch(() => {})
    return undefined
  }
  try {
    await claim.complete(recordResponse(status, header, body, options.keptHeaders))
    return undefined
  } catch (error) {
    return renderProblem(error, requestId(asked))
  }
}

/** A policy that throws has no say: the answer is there, and somebody waits for it. */
function chosenEnding<Request>({ ending = endingOf }: IdempotencyOptions<Request>, status: number): Ending {
  try {
    return ending({ status })
  } catch {
    return endingOf({ status })
  }
}

/** Refusals that say nothing about the request itself: later it may be answered otherwise. */
const NOT_DETERMINISTIC = [401, 408, 425, 429]

/** Failures of the server may be tried again; every other answer is the answer. */
export function endingOf({ status }: { status: number }): Ending {
  if (status >= 500) return 'fail'
  return NOT_DETERMINISTIC.includes(status) ? 'release' : 'complete'
}

function requestId({ header }: FrameworkRequest): string {
  const given = header('x-request-id')
  return typeof given === 'string' ? given : randomUUID()
}
