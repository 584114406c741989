import { randomUUID } from 'node:crypto'
import { encodeIdentifier, encodeName } from '../core/encode-identifier.js'
import { CatracaError, invalid } from '../core/errors.js'
import { type Fields, KnownFields } from '../core/fields.js'
import { identifier } from '../core/identifiers.js'
import type { Held } from '../guards/idempotency/held-claim.js'
import { refusalError } from '../guards/idempotency/refusals.js'
import type { HoldResult } from '../guards/idempotency/run.js'
import type { Ending, HoldRequest, WorkContext } from '../guards/idempotency/types.js'
import { type RenderedProblem, renderProblem } from '../server/http/problem.js'
import { guardOf } from './gate.js'
import { asAnswer, type HeaderReader, type HttpAnswer, recordResponse } from './http-answer.js'
import { parseExpirySeconds, parseIdempotencyKey } from './idempotency-key.js'

type IdempotencyGuard = { hold(request: HoldRequest): Promise<HoldResult> }

/** Options of all adapters. */
export interface IdempotencyOptions<Request>
  extends Pick<HoldRequest, 'leaseMs' | 'waitMs' | 'onLeaseExpired' | 'onUnavailable'> {
  /** An instance, or a server: `openCatraca(…)` or `connectCatraca(…)`. */
  catraca?: { idempotency: IdempotencyGuard } | undefined
  /** The guard itself, as in the first version. */
  idempotency?: IdempotencyGuard
  /** Requests that are not guarded, whatever their method. */
  skip?: (request: Request) => boolean
  operation: string | ((request: Request) => string)
  /** The key of a request; its header `Idempotency-Key` when absent. */
  key?: (request: Request) => string | undefined
  /** Whether a request without a key is refused (the default) or executed without any guarantee. */
  required?: boolean | ((request: Request) => boolean)
  /** Methods that are guarded; POST and PATCH when absent. */
  methods?: readonly string[]
  /**
   * The caller that the key belongs to, so that callers cannot get each other's responses. When absent, all share one
   * namespace.
   */
  caller?: (request: Request) => string
  /** What identifies the request; method, path and body when absent. */
  payload?: (request: Request) => unknown
  /** The raw body, for keys that another program may have used: see the guide on shared tables. */
  rawPayload?: (request: Request) => string | Uint8Array | undefined
  /** Response headers that are stored, in lower case. When absent: those that describe the body, and a few more. */
  keptHeaders?: readonly string[]
  /** Largest response body that is stored. A larger response is stored without its body. 1 MiB when absent. */
  maxBodyBytes?: number
  /** How a response ends the record; see `endingOf`. */
  ending?: (answer: { status: number }) => Ending
}

const FIELDS: Fields<IdempotencyOptions<unknown>> = {
  ...{
    catraca: true,
    idempotency: true,
    operation: true,
    key: true,
    skip: true,
    required: true,
    methods: true,
    caller: true,
    payload: true,
  },
  ...{ rawPayload: true, keptHeaders: true, maxBodyBytes: true, ending: true },
  ...{ leaseMs: true, waitMs: true, onLeaseExpired: true, onUnavailable: true },
}
const KNOWN = new KnownFields(FIELDS)
const KNOWN_OF_FETCH = new KnownFields({ ...FIELDS, maxRequestBytes: true })

/** Called when the adapter is created, so that a mistake is found before the first request. */
export function checkIdempotencyOptions(options: Guarded, known = KNOWN): void {
  known.check(options)
  guardIn(options)
}
export const checkFetchOptions = (options: Guarded): void => checkIdempotencyOptions(options, KNOWN_OF_FETCH)

type Guarded = Pick<IdempotencyOptions<never>, 'catraca' | 'idempotency'>
const guardIn = (options: Guarded): IdempotencyGuard =>
  guardOf<'idempotency', IdempotencyGuard>(options, 'idempotency')

/** What an adapter passes for a request. */
export interface FrameworkRequest {
  method: string
  path: string
  header: HeaderReader
  /** Called only when `payload` is not set. */
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

/** The claim of a request, for its handler; undefined when there is none. */
export function idempotencyContext(request: object): WorkContext | undefined {
  return contexts.get(request)
}

/** Claims a request by its key. Returns a problem when it cannot, or the recorded response. */
export async function startRequest<Request>(
  options: IdempotencyOptions<Request>,
  request: Request,
  asked: FrameworkRequest,
): Promise<Start> {
  const { methods = DEFAULT_METHODS, required = true, skip } = options
  if (!methods.includes(asked.method) || skip?.(request)) return { go: 'on' }
  try {
    const { key = () => parseIdempotencyKey(asked.header('idempotency-key')) } = options
    const given = key(request)
    if (given === undefined) {
      const isRequired = typeof required === 'function' ? required(request) : required
      if (!isRequired) return { go: 'on' }
      throw invalid('Idempotency-Key', 'is required')
    }
    const start = toStart(await guardIn(options).hold(await toHold(options, request, asked, given)))
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
    // The encoded caller has no `:`, so no caller can form the key of another.
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

/** A record that was not written by an adapter is not a response for a client. */
function checkedAnswer(value: unknown): HttpAnswer {
  const answer = asAnswer(value)
  if (answer === undefined) throw notKept({})
  return answer
}

const notKept = (facts: Record<string, unknown>): CatracaError =>
  new CatracaError(
    'IDEMPOTENCY_ANSWER_NOT_KEPT',
    'this request was executed before, and its response was not stored',
    {
      facts,
    },
  )

/** The facts of a response that decide how its claim ends. */
export interface Given {
  status: number
  header: HeaderReader
  /** Undefined: too large, or not seen. */
  body: Uint8Array | undefined
  /** A guard of this package refused the request before anything was executed. */
  isRefusal: boolean
}

/** Ends the claim by the response. Returns a problem to send instead when the response cannot be recorded. */
export async function endRequest<Request>(
  options: IdempotencyOptions<Request>,
  claim: Held,
  { status, header, body, isRefusal }: Given,
  asked: FrameworkRequest,
): Promise<RenderedProblem | undefined> {
  const ending = isRefusal ? 'release' : chosenEnding(options, status)
  if (ending !== 'complete') {
    // If this fails, the record stays in progress until its lease expires; the response is the same.
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

/** An error in the caller's policy is ignored: the response exists, and the client waits for it. */
function chosenEnding<Request>({ ending = endingOf }: IdempotencyOptions<Request>, status: number): Ending {
  try {
    return ending({ status })
  } catch {
    return endingOf({ status })
  }
}

/** Statuses that say nothing about the request itself: a later attempt may succeed. */
const NOT_DETERMINISTIC = [401, 408, 425, 429]

/** Server errors may be retried; every other response is final. */
export function endingOf({ status }: { status: number }): Ending {
  if (status >= 500) return 'fail'
  return NOT_DETERMINISTIC.includes(status) ? 'release' : 'complete'
}

function requestId({ header }: FrameworkRequest): string {
  const given = header('x-request-id')
  return typeof given === 'string' ? given : randomUUID()
}
