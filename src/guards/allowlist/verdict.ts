import { CatracaError, isCatracaError } from '../../core/errors.js'
import { isPromise, type MaybePromise } from '../../core/maybe-promise.js'
import { type LastKnown, NotInMemory } from './last-known/index.js'
import { type CheckView, type Freshness, type MemberState, ViewChanged } from './port.js'
import type { CheckReason, CheckResult, OnUnavailable } from './types.js'
import type { CompiledWave } from './wave/index.js'

/** Waves may depend on other lists. Configuration refuses longer chains, so only concurrent changes can create one. */
export const MAX_CHAIN = 8
/** Attempts of a check while lists are being replaced. */
const MAX_TRIES = 10

export interface Verdict {
  reason: CheckReason
  type: CheckResult['type']
  addedAt?: number
  /** The store did not answer: the verdict is as of this time, in epoch milliseconds. */
  asOf?: number
}

/** What a check does when the store does not answer. */
export interface WithoutStore {
  readonly onUnavailable: OnUnavailable
  /** Present when `onUnavailable` is `last-known`. */
  readonly lastKnown?: LastKnown | undefined
}

export const BLOCK: WithoutStore = { onUnavailable: 'block' }

export const NOT_FOUND: Verdict = { reason: 'ALLOWLIST_NOT_FOUND', type: null }
export const NOT_MEMBER: Verdict = { reason: 'NOT_MEMBER', type: 'FIXA' }
export const IN_WAVE: Verdict = { reason: 'IN_WAVE', type: 'ONDA' }
export const OUT_OF_WAVE: Verdict = { reason: 'OUT_OF_WAVE', type: 'ONDA' }
export const OUTSIDE_WINDOW: Verdict = { reason: 'OUTSIDE_WINDOW', type: 'ONDA' }
export const EXCLUDED: Verdict = { reason: 'EXCLUDED', type: 'ONDA' }
/**
 * The result is unknown, so it denies. This also applies in `exclude`, where a denial
 * would otherwise admit the customer.
 */
export const TOO_DEEP: Verdict = { reason: 'OUT_OF_WAVE', type: 'ONDA' }

/** The record of the list cannot be read, so the result is unknown too. */
export const UNREADABLE: Verdict = { reason: 'ALLOWLIST_UNREADABLE', type: null }

/** Admits because `onUnavailable` is `allow`, not because the answer is known. */
export const UNAVAILABLE: Verdict = { reason: 'UNAVAILABLE', type: null }

export const admits = (verdict: Verdict): boolean =>
  verdict.reason === 'MEMBER' || verdict.reason === 'IN_WAVE' || verdict === UNAVAILABLE

export const isDegraded = (verdict: Verdict): boolean => verdict === UNAVAILABLE || verdict.asOf !== undefined

/** The verdict on a list that the store gave no answer for. `judge` judges the list in a view of memory. */
export function verdictWithoutStore<T extends Verdict | Promise<Verdict>>(
  error: unknown,
  { onUnavailable, lastKnown }: WithoutStore,
  freshness: Freshness,
  judge: (view: CheckView) => T,
): Verdict | T {
  if (onUnavailable === 'block' || !isCatracaError(error, 'ENGINE_UNAVAILABLE')) throw error
  if (lastKnown === undefined) return UNAVAILABLE
  const view = lastKnown.view(freshness)
  if (view === undefined) throw error
  const missing = (reason: unknown): Verdict => {
    if (!(reason instanceof NotInMemory) || lastKnown.onNotInMemory === 'block') throw error
    return UNAVAILABLE
  }
  try {
    const verdict = judge(view)
    if (!isPromise(verdict)) return { ...verdict, asOf: view.asOf }
    return verdict.then((found): Verdict => ({ ...found, asOf: view.asOf })).catch(missing) as T
  } catch (reason) {
    return missing(reason)
  }
}

export const isUndecidable = (verdict: Verdict): boolean => verdict === TOO_DEEP || verdict === UNREADABLE

/** Whether the verdict on an excluded list ends the search. */
export const endsExclusion = (verdict: Verdict): boolean => admits(verdict) || isUndecidable(verdict)

export function judgeMember(member: MemberState | undefined, now: number): Verdict {
  if (member === undefined) return NOT_MEMBER
  const { addedAt, expiresAt } = member
  const reason = expiresAt !== undefined && expiresAt <= now ? 'MEMBER_EXPIRED' : 'MEMBER'
  return addedAt === undefined ? { reason, type: 'FIXA' } : { reason, type: 'FIXA', addedAt }
}

export function strategyVerdict({ admission }: CompiledWave, customerId: string, now: number): Verdict {
  return admission.admits(customerId, now) ? IN_WAVE : OUT_OF_WAVE
}

/** Repeats the check if members were replaced during it: a result must not mix the states before and after. */
export function retryOnViewChange<T>(
  answer: Promise<T>,
  again: () => MaybePromise<T>,
  tries = 1,
): Promise<T> {
  return answer.catch((error: unknown) => {
    if (!(error instanceof ViewChanged)) throw error
    if (tries === MAX_TRIES) {
      throw new CatracaError('ENGINE_UNAVAILABLE', 'the list is being replaced faster than it can be read')
    }
    const next = again()
    return isPromise(next) ? retryOnViewChange(next, again, tries + 1) : next
  })
}
