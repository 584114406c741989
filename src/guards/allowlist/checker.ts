import { setImmediate } from 'node:timers/promises'
import { type Clock, isoTime } from '../../core/clock.js'
import { isPromise, type MaybePromise, whenReady } from '../../core/maybe-promise.js'
import type { CheckedList, CheckStore, CheckView, Freshness } from './port.js'
import type { CheckAnswer, CheckResult } from './types.js'
import { isUnreadable } from './unreadable.js'
import {
  admits,
  BLOCK,
  EXCLUDED,
  endsExclusion,
  isDegraded,
  isUndecidable,
  judgeMember,
  MAX_CHAIN,
  NOT_FOUND,
  OUT_OF_WAVE,
  OUTSIDE_WINDOW,
  retryOnViewChange,
  strategyVerdict,
  TOO_DEEP,
  UNREADABLE,
  type Verdict,
  verdictWithoutStore,
  type WithoutStore,
} from './verdict.js'
import { insideWindow } from './wave/common-fields.js'
import { type CompiledWave, compileWave } from './wave/index.js'

/** Pairs checked before the event loop gets a turn. */
const PAIRS_PER_TURN = 1000

const nextTurn = (): Promise<void> => setImmediate()

/** The check of one customer. */
interface Inquiry {
  readonly view: CheckView
  readonly customerId: string
  readonly now: number
  readonly freshness: Freshness
  /** Verdicts on lists that waves depend on. */
  known: Map<string, MaybePromise<Verdict>> | undefined
}

/** Checks customers. Returns synchronously when the engine does. */
export class Checker {
  /** An engine replaces the immutable list object when the list changes, so it can key derived data. */
  private readonly waves = new WeakMap<CheckedList, CompiledWave>()

  constructor(
    private readonly store: CheckStore,
    private readonly clock: Clock,
    private readonly withoutStore: WithoutStore = BLOCK,
    private readonly onUnreadable: (listId: string, error: unknown) => void = () => {},
  ) {}

  check(customerId: string, listIds: readonly string[], freshness: Freshness): MaybePromise<CheckAnswer> {
    const answer = this.checkOnce(customerId, listIds, freshness)
    if (!isPromise(answer)) return answer
    return retryOnViewChange(answer, () => this.checkOnce(customerId, listIds, freshness))
  }

  private checkOnce(
    customerId: string,
    listIds: readonly string[],
    freshness: Freshness,
  ): MaybePromise<CheckAnswer> {
    const view = this.store.view(freshness)
    return isPromise(view)
      ? view.then((settled) => this.checkIn(settled, customerId, listIds, freshness))
      : this.checkIn(view, customerId, listIds, freshness)
  }

  /**
   * Checks many customers against one state of the store, with pauses for the event loop. If a list changed during
   * a pause, the whole call is repeated without pauses. When a pause is rejected, nothing more is checked.
   */
  checkMany(
    customers: string[],
    listIds: readonly string[],
    freshness: Freshness,
    pause: () => Promise<void> = nextTurn,
  ): Promise<CheckAnswer[]> {
    const ask = () => this.checkManyOnce(customers, listIds, freshness, pause)
    return retryOnViewChange(ask(), ask)
  }

  private async checkManyOnce(
    customers: string[],
    listIds: readonly string[],
    freshness: Freshness,
    pause: () => Promise<void>,
  ): Promise<CheckAnswer[]> {
    const perTurn = Math.max(1, Math.floor(PAIRS_PER_TURN / listIds.length))
    const answers: CheckAnswer[] = []
    let lists: (CheckedList | undefined)[] | undefined
    for (let i = 0; i < customers.length; i += perTurn) {
      if (i > 0) await pause()
      const part = await this.checkPart(customers.slice(i, i + perTurn), listIds, freshness)
      if (lists?.some((list, n) => list !== part.lists[n])) {
        return (await this.checkPart(customers, listIds, freshness)).answers
      }
      lists = part.lists
      answers.push(...part.answers)
    }
    return answers
  }

  /** With a synchronous engine, nothing can change between reading the lists and the members. */
  private async checkPart(customers: string[], listIds: readonly string[], freshness: Freshness) {
    const view = this.store.view(freshness)
    const ready = isPromise(view) ? await view : view
    const lists = listIds.map((id) => listOrNone(ready, id))
    const answers = customers.map((customer) => this.checkIn(ready, customer, listIds, freshness))
    return { lists: await Promise.all(lists), answers: await Promise.all(answers) }
  }

  private checkIn(
    view: CheckView,
    customerId: string,
    listIds: readonly string[],
    freshness: Freshness,
  ): MaybePromise<CheckAnswer> {
    const now = this.clock.now()
    const verdicts: MaybePromise<Verdict>[] = new Array(listIds.length)
    const inquiry: Inquiry = { view, customerId, now, freshness, known: undefined }
    const places = firstPlaces(listIds)
    let waiting = false
    for (let i = 0; i < listIds.length; i++) {
      const first = places === undefined ? i : places[i]!
      const verdict = first < i ? verdicts[first]! : this.asked(inquiry, listIds[i]!)
      if (isPromise(verdict)) waiting = true
      verdicts[i] = verdict
    }
    if (!waiting) return answer(customerId, listIds, verdicts as Verdict[], now)
    // The most common call, for which Promise.all would be half of the work.
    if (listIds.length === 1) {
      return (verdicts[0] as Promise<Verdict>).then((verdict) => answer(customerId, listIds, [verdict], now))
    }
    return Promise.all(verdicts).then((settled) => answer(customerId, listIds, settled, now))
  }

  /** Checks a list that the caller named, and applies `onUnavailable`. */
  private asked(inquiry: Inquiry, listId: string): MaybePromise<Verdict> {
    if (this.withoutStore.onUnavailable === 'block') return this.one(inquiry, listId, 0)
    const without = (error: unknown) =>
      verdictWithoutStore(error, this.withoutStore, inquiry.freshness, (view) =>
        this.one({ ...inquiry, view, known: undefined }, listId, 0),
      )
    try {
      const verdict = this.one(inquiry, listId, 0)
      return isPromise(verdict) ? verdict.catch(without) : verdict
    } catch (error) {
      return without(error)
    }
  }

  private one(inquiry: Inquiry, listId: string, depth: number): MaybePromise<Verdict> {
    let list: MaybePromise<CheckedList | undefined>
    try {
      list = inquiry.view.list(listId)
    } catch (error) {
      return this.unreadable(listId, error)
    }
    return isPromise(list)
      ? list.then(
          (found) => this.judge(inquiry, found, depth),
          (error) => this.unreadable(listId, error),
        )
      : this.judge(inquiry, list, depth)
  }

  /** A list that cannot be read must not prevent results for the others. */
  private unreadable(listId: string, error: unknown): Verdict {
    if (!isUnreadable(error)) throw error
    this.onUnreadable(listId, error)
    return UNREADABLE
  }

  private judge(inquiry: Inquiry, list: CheckedList | undefined, depth: number): MaybePromise<Verdict> {
    if (list === undefined) return NOT_FOUND
    if (list.type === 'ONDA') return this.judgeWave(inquiry, list, depth)
    const { view, customerId, now } = inquiry
    const member = view.member(list, customerId)
    return isPromise(member)
      ? member.then(
          (found) => judgeMember(found, now),
          (error) => this.unreadable(list.id, error),
        )
      : judgeMember(member, now)
  }

  private judgeWave(inquiry: Inquiry, list: CheckedList, depth: number): MaybePromise<Verdict> {
    const { customerId, now } = inquiry
    const wave = this.waveOf(list)
    if (!insideWindow(list.config!, now)) return OUTSIDE_WINDOW
    const { base, exclude } = list.config!
    if (base === undefined && exclude === undefined) return strategyVerdict(wave, customerId, now)
    if (depth >= MAX_CHAIN) return TOO_DEEP
    const ask = (other: string) => this.ask(inquiry, other, depth + 1)
    return whenReady(firstAdmitting(exclude ?? [], ask), (excluding) => {
      if (excluding !== undefined) return isUndecidable(excluding) ? excluding : EXCLUDED
      if (base === undefined) return strategyVerdict(wave, customerId, now)
      return whenReady(ask(base), (verdict) => {
        if (isUndecidable(verdict)) return verdict
        return admits(verdict) ? strategyVerdict(wave, customerId, now) : OUT_OF_WAVE
      })
    })
  }

  /** Waves may reach the same list by many paths. It is checked once. */
  private ask(inquiry: Inquiry, listId: string, depth: number): MaybePromise<Verdict> {
    inquiry.known ??= new Map()
    const known = inquiry.known.get(listId)
    if (known !== undefined) return known
    // Stops cycles. Only two concurrent changes can create one.
    inquiry.known.set(listId, TOO_DEEP)
    const verdict = this.one(inquiry, listId, depth)
    inquiry.known.set(listId, verdict)
    return verdict
  }

  private waveOf(list: CheckedList): CompiledWave {
    let wave = this.waves.get(list)
    if (wave === undefined) this.waves.set(list, (wave = compileWave(list)))
    return wave
  }
}

/** Up to this many lists, comparing them is faster than a map. */
const FEW_LISTS = 8

/** The first index of each list, so that a repeated list is checked once. Undefined if none is repeated. */
function firstPlaces(listIds: readonly string[]): number[] | undefined {
  if (listIds.length <= FEW_LISTS) {
    for (let i = 1; i < listIds.length; i++) {
      if (listIds.indexOf(listIds[i]!) < i) return listIds.map((id) => listIds.indexOf(id))
    }
    return undefined
  }
  const firsts = new Map<string, number>()
  for (let i = listIds.length - 1; i >= 0; i--) firsts.set(listIds[i]!, i)
  return firsts.size === listIds.length ? undefined : listIds.map((id) => firsts.get(id)!)
}

/** Ignores errors: the results report an unreadable list. */
function listOrNone(view: CheckView, listId: string): MaybePromise<CheckedList | undefined> {
  try {
    const list = view.list(listId)
    return isPromise(list) ? list.catch(() => undefined) : list
  } catch {
    return undefined
  }
}

/** The first verdict that admits the customer or is unknown. */
function firstAdmitting(
  listIds: string[],
  ask: (listId: string) => MaybePromise<Verdict>,
  from = 0,
): MaybePromise<Verdict | undefined> {
  for (let i = from; i < listIds.length; i++) {
    const verdict = ask(listIds[i]!)
    if (isPromise(verdict)) {
      return verdict.then((settled) =>
        endsExclusion(settled) ? settled : firstAdmitting(listIds, ask, i + 1),
      )
    }
    if (endsExclusion(verdict)) return verdict
  }
  return undefined
}

function answer(
  customerId: string,
  listIds: readonly string[],
  verdicts: Verdict[],
  now: number,
): CheckAnswer {
  const checkedAt = isoTime(now)
  const results: CheckResult[] = new Array(listIds.length)
  let overallAllowed = true
  let degraded = false
  let asOf = Number.POSITIVE_INFINITY
  for (let i = 0; i < listIds.length; i++) {
    const { reason, type, addedAt } = verdicts[i]!
    const allowed = admits(verdicts[i]!)
    overallAllowed &&= allowed
    const result: CheckResult = { allowlistId: listIds[i]!, allowed, type, reason, checkedAt }
    if (addedAt !== undefined) result.addedAt = addedIso(addedAt)
    if (isDegraded(verdicts[i]!)) {
      result.degraded = true
      degraded = true
      const known = verdicts[i]!.asOf
      if (known !== undefined) {
        result.asOf = isoTime(known)
        if (known < asOf) asOf = known
      }
    }
    results[i] = result
  }
  if (!degraded) return { customerId, results, overallAllowed }
  const answer: CheckAnswer = { customerId, results, overallAllowed, degraded }
  return asOf === Number.POSITIVE_INFINITY ? answer : { ...answer, asOf: isoTime(asOf) }
}

/** Members of one import batch have the same time, and a list has few batches. */
const MAX_MOMENTS = 1000
const moments = new Map<number, string>()
let lastAddedMs = Number.NaN
let lastAddedIso = ''

function addedIso(ms: number): string {
  if (ms !== lastAddedMs) {
    lastAddedIso = momentIso(ms)
    lastAddedMs = ms
  }
  return lastAddedIso
}

function momentIso(ms: number): string {
  let iso = moments.get(ms)
  if (iso === undefined) {
    if (moments.size >= MAX_MOMENTS) moments.clear()
    moments.set(ms, (iso = new Date(ms).toISOString()))
  }
  return iso
}
