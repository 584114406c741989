import { isUnavailable } from '../../core/deadlines.js'
import { CatracaError, isCatracaError } from '../../core/errors.js'
import { type Fields, KnownFields } from '../../core/fields.js'
import type { JsonForm } from '../../core/json-form.js'
import type { Idempotency } from './index.js'
import { notExecuted } from './refusals.js'
import type { HoldRequest, RefusalReason, WorkContext } from './types.js'

export interface ConsumerOptions<Message, Result> {
  idempotency: Pick<Idempotency, 'run'>
  /** Default: CONSUME. */
  operation?: string
  /** The identity of a message, for example its id. Deliveries with the same key are the same message. */
  key: (message: Message) => string
  /** The content of the message, to detect another message under the same key. */
  payload?: (message: Message) => unknown
  /** The work. If it throws, the message is tried again. */
  handle: (message: Message, context: WorkContext) => Result | Promise<Result>
  /** After this many attempts the message is rejected. Default: 5. */
  maxAttempts?: number
  /** Delay before the first retry, doubled after each further failure. Default: 1 s. */
  retryDelayMs?: number
  /** Maximum delay. Default: 5 minutes. */
  maxRetryDelayMs?: number
  request?: Pick<HoldRequest, 'leaseMs' | 'expirySeconds' | 'onLeaseExpired' | 'onUnavailable' | 'waitMs'>
}

const FIELDS: Fields<ConsumerOptions<unknown, unknown>> = {
  ...{ idempotency: true, operation: true, key: true, payload: true, handle: true },
  ...{ maxAttempts: true, retryDelayMs: true, maxRetryDelayMs: true },
  request: { leaseMs: true, expirySeconds: true, onLeaseExpired: true, onUnavailable: true, waitMs: true },
}
const KNOWN = new KnownFields(FIELDS)

/** What to do with the message. Every queue has a name for each action. */
export type ConsumerDecision<Result> =
  /** Executed, now or before: remove it from the queue. No value if the response was too large to store. */
  | { action: 'ack'; replayed: false; value: Result }
  | { action: 'ack'; replayed: true; value?: JsonForm<Result> }
  /** Not executed, or not known to be: deliver it again after this time. */
  | { action: 'redeliver'; delayMs: number; why: RedeliveryReason; error?: unknown }
  /** Further deliveries cannot succeed: put it aside for a person to inspect. */
  | { action: 'reject'; why: 'attempts' | 'invalid' | Exclude<RefusalReason, 'in-progress'>; error?: unknown }

/**
 * `recording`: the work was executed, but that could not be recorded; the next delivery resolves it. `failed`: the
 * work threw. `unavailable`: the engine did not answer or the record cannot be read, and nothing was executed.
 */
export type RedeliveryReason = 'in-progress' | 'failed' | 'unavailable' | 'recording'

/** A consumer that executes the work of each message once, however often it is delivered. It never throws. */
export function idempotentConsumer<Message, Result>(
  options: ConsumerOptions<Message, Result>,
): (message: Message) => Promise<ConsumerDecision<Awaited<Result>>> {
  KNOWN.check(options)
  const { idempotency, operation = 'CONSUME', request, maxAttempts = 5 } = options
  return async (message) => {
    const work = { attempt: 0, hasBegun: false, isDone: false }
    try {
      const payload = options.payload?.(message)
      const key = options.key(message)
      const result = await idempotency.run<Result>(
        { ...request, operation, key, ...(payload !== undefined && { payload }) },
        async (context) => {
          work.attempt = context.attempt
          // The earlier attempts neither completed nor failed. A message that kills its process is not tried for ever.
          if (context.attempt > maxAttempts) throw notExecuted(neverEnded())
          work.hasBegun = true
          const value = await options.handle(message, context)
          work.isDone = true
          return value
        },
      )
      if (result.outcome === 'executed') return { action: 'ack', replayed: false, value: result.value }
      if (result.outcome === 'replayed') return { action: 'ack', replayed: true, value: result.value }
      if (result.outcome === 'omitted') return { action: 'ack', replayed: true }
      if (result.reason !== 'in-progress') return { action: 'reject', why: result.reason }
      return { action: 'redeliver', delayMs: result.retryAfterMs ?? 1000, why: 'in-progress' }
    } catch (error) {
      return decide(options, error, work)
    }
  }
}

const neverEnded = (): CatracaError =>
  new CatracaError(
    'IDEMPOTENCY_OUTCOME_UNKNOWN',
    'this message was started as often as allowed, and never completed',
  )

function decide<Message, Result>(
  { maxAttempts = 5, retryDelayMs = 1000, maxRetryDelayMs = 300_000 }: ConsumerOptions<Message, Result>,
  error: unknown,
  { attempt, hasBegun, isDone }: { attempt: number; hasBegun: boolean; isDone: boolean },
): ConsumerDecision<never> {
  if (isDone) return { action: 'redeliver', delayMs: retryDelayMs, why: 'recording', error }
  if (!hasBegun) {
    const isRefused = isUnavailable(error) || isCatracaError(error, 'STORE_CORRUPT')
    if (isRefused) return { action: 'redeliver', delayMs: retryDelayMs, why: 'unavailable', error }
    if (isCatracaError(error, 'INVALID_INPUT')) return { action: 'reject', why: 'invalid', error }
  }
  if (attempt >= maxAttempts) return { action: 'reject', why: 'attempts', error }
  const delayMs = Math.min(maxRetryDelayMs, retryDelayMs * 2 ** Math.max(0, attempt - 1))
  return { action: 'redeliver', delayMs, why: 'failed', error }
}
