import { aborted, pause } from '../core/abort.js'
import { isUnavailable } from '../core/deadlines.js'
import { type CatracaError, invalid, isCatracaError } from '../core/errors.js'
import { identifier } from '../core/identifiers.js'
import type { ListedPage } from '../core/listing.js'
import { SharedTimer } from '../core/shared-timer.js'
import type { IdempotencyApi } from '../guards/idempotency/api.js'
import { requestHashOf } from '../guards/idempotency/canonical.js'
import { Heartbeat } from '../guards/idempotency/heartbeat.js'
import { HeldClaim, unguarded } from '../guards/idempotency/held-claim.js'
import { checkedLease, checkedWait } from '../guards/idempotency/input.js'
import { DEFAULT_IDEMPOTENCY } from '../guards/idempotency/options.js'
import type { OwnerOutcome } from '../guards/idempotency/port.js'
import { type HoldResult, runHeld } from '../guards/idempotency/run.js'
import type {
  HoldRequest,
  ListedRecordView,
  RecordKey,
  RecordQuery,
  RecordView,
  RefusalReason,
  RunRequest,
  RunResult,
  WorkContext,
} from '../guards/idempotency/types.js'
import { retried } from '../guards/idempotency/verbs.js'
import { type Calls, change, existed, unless } from './calls.js'

const ABSENT = 'IDEMPOTENCY_RECORD_NOT_FOUND'
/** The API counts leases in seconds, from one. */
const MIN_LEASE_MS = 1000
/** Executed work should be recorded: a completion is repeated for this long, for repeating has no further effect. */
const COMPLETE_MS = 5000
const FIRST_PAUSE_MS = 25
const LONGEST_PAUSE_MS = 1000
const REASONS: Partial<Record<CatracaError['code'], RefusalReason>> = {
  IDEMPOTENCY_IN_PROGRESS: 'in-progress',
  IDEMPOTENCY_KEY_REUSED: 'other-request',
  IDEMPOTENCY_OUTCOME_UNKNOWN: 'unknown',
}

type Claimed = { token: string; attempt: number } | { response?: unknown; omittedBytes?: number }
interface Asked {
  key: RecordKey
  leaseMs: number
  input: Parameters<Calls['claimRequest']>[0]
}

/** Idempotency over HTTP, with the results and errors of the library. */
export class RemoteIdempotency implements IdempotencyApi {
  private readonly wakes = new SharedTimer(monotonicMs)

  constructor(
    private readonly calls: Calls,
    private readonly report: (message: string, error: unknown) => void,
  ) {}

  /** Executes the work, or returns the stored response. Rethrows what the work throws. */
  run<T>(
    request: RunRequest,
    work: (context: WorkContext) => T | Promise<T>,
  ): Promise<RunResult<Awaited<T>>> {
    return runHeld((asked) => this.hold(asked), this.report, request, work)
  }

  /**
   * Like `run`, for callers that end the claim elsewhere. The claim is renewed until then. A claim whose answer was lost
   * on the way stays until its lease expires, because only the answer holds its token.
   */
  async hold(request: HoldRequest): Promise<HoldResult> {
    const asked = askedOf(request)
    const { signal, onUnavailable } = request
    const untilMs = monotonicMs() + checkedWait(request)
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)) {
      const sinceMs = monotonicMs()
      let result: HoldResult
      try {
        result = await this.claim(asked, sinceMs)
      } catch (error) {
        if (onUnavailable !== 'allow' || !isUnavailable(error)) throw error
        return { outcome: 'held', claim: unguarded() }
      }
      if (result.outcome === 'held' && signal?.aborted) {
        await result.claim.release().catch((error) => this.report('an aborted claim was not released', error))
        throw aborted(signal)
      }
      const isWaiting = result.outcome === 'refused' && result.reason === 'in-progress'
      const leftMs = untilMs - monotonicMs()
      if (!isWaiting || leftMs <= 0) return result
      await pause(Math.min(pauseMs, leftMs), signal)
    }
  }

  async get(key: RecordKey): Promise<RecordView | undefined> {
    return unless(ABSENT, this.calls.getIdempotencyRecord(checkedKey(key)))
  }

  async list({ leaseEnded, ...query }: RecordQuery = {}): Promise<ListedPage<ListedRecordView>> {
    return this.calls.listIdempotencyRecords({ ...query, leaseEnded: leaseEnded ? '1' : undefined })
  }

  async delete(key: RecordKey): Promise<boolean> {
    return existed(ABSENT, this.calls.deleteIdempotencyRecord(checkedKey(key)))
  }

  private async claim({ key, leaseMs, input }: Asked, sinceMs: number): Promise<HoldResult> {
    let claimed: Claimed
    try {
      claimed = await this.calls.claimRequest<Claimed>(input)
    } catch (error) {
      const reason = isCatracaError(error) ? REASONS[error.code] : undefined
      if (reason === undefined) throw error
      const { retryAfterMs } = (error as CatracaError).facts ?? {}
      return { outcome: 'refused', reason, ...(typeof retryAfterMs === 'number' && { retryAfterMs }) }
    }
    if ('token' in claimed) {
      const verbs = new ClaimCalls(this.calls, key, claimed.token)
      const { maxWorkMs } = DEFAULT_IDEMPOTENCY
      const extend = () => verbs.extend(leaseMs)
      const heartbeat = new Heartbeat({ leaseMs, maxWorkMs, extend, monotonicMs, wakes: this.wakes }, sinceMs)
      return { outcome: 'held', claim: new ServerClaim(verbs, claimed, heartbeat) }
    }
    const { response: value, omittedBytes: sizeBytes } = claimed
    return sizeBytes === undefined ? { outcome: 'replayed', value } : { outcome: 'omitted', sizeBytes }
  }
}

const monotonicMs = (): number => performance.now()

const checkedKey = ({ operation, key }: RecordKey): RecordKey => ({
  operation: identifier('operation', operation),
  key: identifier('key', key),
})

/** The payload stays here: the server compares its hash. */
function askedOf(request: HoldRequest): Asked {
  const { payload, requestHash, rawPayload, onLeaseExpired, expirySeconds } = request
  const key = checkedKey(request)
  const leaseMs = checkedLease(request.leaseMs ?? DEFAULT_IDEMPOTENCY.leaseMs)
  if (leaseMs < MIN_LEASE_MS) throw invalid('leaseMs', `must be at least ${MIN_LEASE_MS} over a server`)
  if (rawPayload !== undefined)
    throw invalid('rawPayload', 'is not available over a server: give requestHash')
  if (payload !== undefined && requestHash !== undefined)
    throw invalid('requestHash', 'must not be given together with payload')
  const body = {
    requestHash: requestHash ?? requestHashOf(payload),
    leaseSeconds: leaseMs / 1000,
    ...(onLeaseExpired !== undefined && { onLeaseExpired }),
  }
  const expiry = expirySeconds === undefined ? {} : { idempotencyExpirySeconds: String(expirySeconds) }
  return { key, leaseMs, input: { ...key, ...expiry, body } }
}

/** The calls that a claim needs. */
class ClaimCalls {
  constructor(
    private readonly calls: Calls,
    private readonly key: RecordKey,
    private readonly token: string,
  ) {}

  async complete(response: unknown): Promise<void> {
    const ask = () =>
      change(this.calls.completeRequest({ ...this.key, body: { token: this.token, response } }))
    await ask().catch((error) => retried(ask, performance.now() + COMPLETE_MS, error))
  }

  fail(error: string | undefined): Promise<unknown> {
    const body = { token: this.token, ...(error !== undefined && { error }) }
    return change(this.calls.failRequest({ ...this.key, body }))
  }

  release(): Promise<unknown> {
    return change(this.calls.releaseRequest({ ...this.key, body: { token: this.token } }))
  }

  async extend(leaseMs: number): Promise<OwnerOutcome> {
    const body = { token: this.token, leaseSeconds: leaseMs / 1000 }
    const extending = this.calls.extendRequest({ ...this.key, body })
    return (await existed('IDEMPOTENCY_CLAIM_LOST', extending)) ? 'done' : 'lost'
  }
}

class ServerClaim extends HeldClaim {
  constructor(
    private readonly verbs: ClaimCalls,
    { attempt, token }: { attempt: number; token: string },
    heartbeat: Heartbeat,
  ) {
    super(attempt, token, heartbeat)
  }

  protected record(value: unknown): Promise<void> {
    return this.verbs.complete(value)
  }

  protected recordFailure(error: string | undefined): Promise<unknown> {
    return this.verbs.fail(error)
  }

  protected giveBack(): Promise<unknown> {
    return this.verbs.release()
  }
}
