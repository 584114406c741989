import { randomUUID } from 'node:crypto'
import { encodeIdentifier } from '../core/encode-identifier.js'
import { CatracaError, invalid, isCatracaError } from '../core/errors.js'
import { type Fields, KnownFields } from '../core/fields.js'
import type { MaybePromise } from '../core/maybe-promise.js'
import type { AllowlistsApi } from '../guards/allowlist/api.js'
import type { CheckAnswer, CheckOptions } from '../guards/allowlist/types.js'
import {
  type DenialResponse,
  type Gate,
  type GuardOptions,
  guardOf,
  isOutage,
  PASS,
  refusalOf,
  reportNow,
  withDenial,
} from './gate.js'

type ListsGuard = Pick<AllowlistsApi, 'check'>

/** Options of all adapters. */
export interface AllowOptions<Request> extends GuardOptions<Request> {
  /** An instance, or a server: `openCatraca(…)` or `connectCatraca(…)`. */
  catraca: { allowlists: ListsGuard }
  /** Lists and waves that must all admit the customer. */
  lists: readonly string[] | ((request: Request) => readonly string[])
  /** Undefined: the request has no customer, and is refused. */
  customer: (request: Request) => MaybePromise<string | undefined>
  /** How fresh the answer must be; see `check`. */
  consistency?: CheckOptions['consistency']
  /** The response to a customer who may not pass; when absent a problem with status 403. */
  denial?: (request: Request, answer: CheckAnswer | undefined) => DenialResponse | undefined
  /** What happens when the guard fails instead of deciding: 503 (`block`, the default), or the request passes. */
  onUnavailable?: 'allow' | 'block'
  /** Called with the answer before the request goes on. */
  onAllowed?: (request: Request, answer: CheckAnswer) => void
}

const FIELDS: Fields<AllowOptions<unknown>> = {
  ...{ catraca: true, lists: true, customer: true, consistency: true, denial: true, onUnavailable: true },
  ...{ onAllowed: true, skip: true, report: true },
}
const KNOWN = new KnownFields(FIELDS)

/** Admits requests whose customers are on all lists. */
export class RequestAllowlists<Request> {
  private readonly guard: ListsGuard
  private readonly checkOptions: CheckOptions | undefined

  /** Refuses wrong options, so that a mistake is found before the first request. */
  constructor(private readonly options: AllowOptions<Request>) {
    KNOWN.check(options)
    this.guard = guardOf<'allowlists', ListsGuard>({ catraca: options.catraca }, 'allowlists')
    const { lists, consistency } = options
    if (Array.isArray(lists) && lists.length === 0) throw invalid('lists', 'must name a list')
    this.checkOptions = consistency === undefined ? undefined : { consistency }
  }

  async ask(request: Request, requestId: string = randomUUID()): Promise<Gate> {
    const { skip, customer, lists, onAllowed } = this.options
    if (await skip?.(request)) return PASS
    try {
      const id = await customer(request)
      if (id === undefined) return this.refused(request, undefined, requestId)
      const asked = typeof lists === 'function' ? lists(request) : lists
      const answer = await this.guard.check(encodeIdentifier(id, 'customerId'), [...asked], this.checkOptions)
      if (!answer.overallAllowed) return this.refused(request, answer, requestId)
      onAllowed?.(request, answer)
      return PASS
    } catch (error) {
      return this.failed(error, requestId)
    }
  }

  private refused(request: Request, answer: CheckAnswer | undefined, requestId: string): Gate {
    const missing = answer?.results.find(({ reason }) => reason === 'ALLOWLIST_NOT_FOUND')
    if (missing !== undefined) {
      reportNow(this.options, `the allowlist ${missing.allowlistId} does not exist: nobody passes`, undefined)
    }
    const error = new CatracaError('CUSTOMER_NOT_ALLOWED', 'this customer may not use this')
    return withDenial(refusalOf(error, requestId), this.options.denial?.(request, answer))
  }

  private failed(error: unknown, requestId: string): Gate {
    if (this.options.onUnavailable === 'allow' && isOutage(error)) return PASS
    const isCallers = isCatracaError(error) && error.errors?.[0]?.path === 'customerId'
    if (isCallers || !isCatracaError(error, 'INVALID_INPUT')) return refusalOf(error, requestId)
    reportNow(this.options, `the allowlists cannot be checked: ${error.message}`, error)
    return refusalOf(undefined, requestId)
  }
}
