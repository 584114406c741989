import { aborted } from '../../core/abort.js'
import { type Clock, isoTime } from '../../core/clock.js'
import { isUnavailable } from '../../core/deadlines.js'
import { invalid } from '../../core/errors.js'
import type { ListedPage } from '../../core/listing.js'
import { SharedTimer } from '../../core/shared-timer.js'
import { systemTiming, type Timing } from '../../core/timing.js'
import type { IdempotencyApi } from './api.js'
import { Heartbeat } from './heartbeat.js'
import { assertOwned, EngineClaim, unguarded } from './held-claim.js'
import { afterOperation, checkedLease, checkedWait, parseClaim, recordKey } from './input.js'
import { listRecords } from './listed-records.js'
import { type IdempotencyOptions, MAX_ERROR_CHARACTERS } from './options.js'
import { checkedToken, newToken, ownerOf } from './owner-token.js'
import { Polls } from './polls.js'
import type { Claim, ClaimOutcome, IdempotencyStore, StoredRecord } from './port.js'
import { toView } from './record-view.js'
import { toReplay, writtenAnswer } from './responses.js'
import { type HoldResult, runHeld } from './run.js'
import { isSameRequest } from './transitions.js'
import type {
  Begun,
  HoldRequest,
  IdempotentRequest,
  ListedRecordView,
  RecordKey,
  RecordQuery,
  RecordView,
  Refused,
  Replay,
  RunRequest,
  RunResult,
  WorkContext,
} from './types.js'
import { type EndCounts, Verbs } from './verbs.js'

export type { HoldResult } from './run.js'

interface IdempotencyParts {
  store: IdempotencyStore
  options: IdempotencyOptions
  clock: Clock
  /** Receives errors of background work, which has no caller. */
  report: (message: string, error: unknown) => void
  timing?: Timing
}

/** How requests began: with a claim, with a replay, or with a refusal. */
export interface BeginCounts {
  claimed: number
  /** Claimed again after an attempt that stored no response. */
  reclaimed: number
  replayed: number
  in_progress: number
  mismatch: number
  unknown: number
  /** Executed without a claim, because the engine did not answer. */
  degraded: number
}

const REFUSALS = { 'in-progress': 'in_progress', 'other-request': 'mismatch', unknown: 'unknown' } as const

/** Idempotency: was this request already executed, and with which response? */
export class Idempotency implements IdempotencyApi {
  private readonly verbs: Verbs
  private readonly polls: Polls
  private readonly timing: Timing
  private readonly wakes: SharedTimer
  private readonly maxResponseBytes: number
  private readonly begins: BeginCounts = {
    claimed: 0,
    reclaimed: 0,
    replayed: 0,
    in_progress: 0,
    mismatch: 0,
    unknown: 0,
    degraded: 0,
  }

  constructor(private readonly parts: IdempotencyParts) {
    const { store, options, clock, timing = systemTiming } = parts
    this.verbs = new Verbs(store, clock, options.timeoutMs)
    this.polls = new Polls(
      (key) => this.verbs.read(key),
      (record) => this.verbs.isOver(record),
      timing,
    )
    this.timing = timing
    const isOfSystem = timing.after === systemTiming.after
    const after: Timing['after'] = (ms, work) => timing.after(ms, work)
    this.wakes = new SharedTimer(() => timing.monotonicMs(), false, false, isOfSystem ? undefined : after)
    this.maxResponseBytes = Math.min(options.maxResponseBytes, store.maxResponseBytes)
  }

  /** Executes the work, or returns the stored response. Rethrows what the work throws. */
  run<T>(
    request: RunRequest,
    work: (context: WorkContext) => T | Promise<T>,
  ): Promise<RunResult<Awaited<T>>> {
    return runHeld((asked) => this.hold(asked), this.parts.report, request, work)
  }

  /** Like `run`, for callers that end the claim elsewhere. The claim is renewed until then. */
  async hold(request: HoldRequest): Promise<HoldResult> {
    const waitMs = checkedWait(request)
    const token = newToken()
    const claim = parseClaim(request, ownerOf(token), this.parts.options)
    const waitUntil = this.timing.monotonicMs() + waitMs
    let { onUnavailable = this.parts.options.onUnavailable } = request
    for (let since = this.timing.monotonicMs(); ; since = this.timing.monotonicMs()) {
      let answer: ClaimOutcome
      try {
        answer = await this.verbs.claim(claim, onUnavailable === 'block')
      } catch (error) {
        // Execute without a claim only if the engine does not answer. A damaged record means the request was
        // executed: it must not run again.
        if (onUnavailable === 'allow' && isUnavailable(error)) return this.runUnguarded()
        throw error
      }
      onUnavailable = 'block'
      if (answer.outcome === 'claimed') {
        if (request.signal?.aborted) await this.giveUp(claim, request.signal)
        return this.held(claim, token, answer.attempt, since)
      }
      const judged = this.judge(claim, answer)
      const told = judged instanceof Promise ? await judged : judged
      const leftMs = waitUntil - this.timing.monotonicMs()
      if (told.outcome !== 'refused' || told.reason !== 'in-progress' || leftMs <= 0) return this.told(told)
      const ended = await this.polls.ended(claim.key, leftMs, request.signal)
      if (request.signal?.aborted) throw aborted(request.signal)
      if (ended?.status === 'COMPLETED' && isOf(ended, claim)) return this.told(await toReplay(ended))
    }
  }

  /** Claims the request. The caller must renew the claim and end it with its token. */
  async begin(request: IdempotentRequest): Promise<Begun> {
    const token = newToken()
    const claim = parseClaim(request, ownerOf(token), this.parts.options)
    const answer = await this.verbs.claim(claim, true)
    if (answer.outcome === 'found') return this.told(await this.judge(claim, answer))
    this.begun(answer.attempt)
    const { attempt, expiresAt, leaseUntil } = answer
    return {
      ...{ outcome: 'claimed', token, attempt },
      ...{ expiresAt: isoTime(expiresAt), leaseUntil: isoTime(leaseUntil) },
    }
  }

  /** `omitted`: the response was too large to store. */
  async complete(key: RecordKey, token: string, response: unknown): Promise<{ omitted: boolean }> {
    const at = this.named(key)
    const owner = ownerOf(checkedToken(token))
    const { completion, failure } = await writtenAnswer(response, this.maxResponseBytes)
    assertOwned(await this.verbs.complete(at, owner, completion))
    if (failure !== undefined) throw failure
    return { omitted: completion.omittedBytes !== undefined }
  }

  async fail(key: RecordKey, token: string, error?: string): Promise<void> {
    if (error !== undefined && (typeof error !== 'string' || error.length > MAX_ERROR_CHARACTERS))
      throw invalid('error', `must be text of at most ${MAX_ERROR_CHARACTERS} characters`)
    assertOwned(await this.verbs.fail(this.named(key), ownerOf(checkedToken(token)), error))
  }

  async release(key: RecordKey, token: string): Promise<void> {
    assertOwned(await this.verbs.release(this.named(key), ownerOf(checkedToken(token))))
  }

  async extend(key: RecordKey, token: string, leaseMs: number): Promise<void> {
    const owner = ownerOf(checkedToken(token))
    const outcome = await this.verbs.extend(this.named(key), owner, checkedLease(leaseMs))
    if (outcome === 'lost') this.verbs.ends.lost++
    assertOwned(outcome)
  }

  async get(key: RecordKey): Promise<RecordView | undefined> {
    const record = await this.verbs.read(this.named(key))
    return record && toView(record, key.operation)
  }

  async list(query: RecordQuery = {}): Promise<ListedPage<ListedRecordView>> {
    const { store, clock, options } = this.parts
    return listRecords(store, options.naming, clock.now(), query)
  }

  async delete(key: RecordKey): Promise<boolean> {
    return this.verbs.remove(this.named(key))
  }

  stats(): BeginCounts & EndCounts {
    return { ...this.begins, ...this.verbs.ends }
  }

  sweep(now: number): Promise<{ more: boolean }> {
    return this.verbs.sweep(now)
  }

  private named(key: RecordKey): RecordKey {
    return recordKey(key, this.parts.options.naming)
  }

  private held({ key, owner, leaseMs }: Claim, token: string, attempt: number, since: number): HoldResult {
    const { maxResponseBytes, timing, wakes } = this
    const monotonicMs = () => timing.monotonicMs()
    this.begun(attempt)
    const { maxWorkMs } = this.parts.options
    const extend = () => this.verbs.extend(key, owner, leaseMs)
    const heartbeat = new Heartbeat({ leaseMs, maxWorkMs, extend, monotonicMs, wakes }, since)
    const facts = { key, token, owner, attempt, maxResponseBytes }
    return { outcome: 'held', claim: new EngineClaim(this.verbs, facts, heartbeat) }
  }

  /** The caller aborted, so release its claim. If that fails, the claim ends with its lease. */
  private async giveUp({ key, owner }: Claim, signal: AbortSignal): Promise<never> {
    await this.verbs.release(key, owner).catch((error) => {
      this.parts.report(
        'a claim of an aborted call could not be released; it stays until its lease expires',
        error,
      )
    })
    throw aborted(signal)
  }

  private begun(attempt: number): void {
    this.begins[attempt > 1 ? 'reclaimed' : 'claimed']++
  }

  private told<T extends Replay<unknown> | Refused>(answer: T): T {
    this.begins[answer.outcome === 'refused' ? REFUSALS[answer.reason] : 'replayed']++
    return answer
  }

  private runUnguarded(): HoldResult {
    this.begins.degraded++
    return { outcome: 'held', claim: unguarded() }
  }

  private judge(
    claim: Claim,
    { record, at }: ClaimOutcome & { outcome: 'found' },
  ): Replay<unknown> | Refused | Promise<Replay<unknown>> {
    this.verbs.setEngineTime(at)
    if (!isOf(record, claim)) return { outcome: 'refused', reason: 'other-request' }
    if (record.status === 'COMPLETED') return toReplay(record)
    const leftMs = (record.leaseUntil ?? at) - at
    if (leftMs <= 0 && !(claim.takesOver && record.takesOver))
      return { outcome: 'refused', reason: 'unknown' }
    // The longer the work has run, the longer it may still take. But never wait beyond the lease.
    const retryAfterMs = Math.max(1, Math.min(leftMs, Math.max(1000, at - record.updatedAt)))
    return { outcome: 'refused', reason: 'in-progress', retryAfterMs }
  }
}

/** Also matches records that an earlier version wrote under a bare name, without the operation. */
function isOf(record: StoredRecord, claim: Claim): boolean {
  return isSameRequest(record, claim) || record.requestHash === afterOperation(claim.requestHash)
}
