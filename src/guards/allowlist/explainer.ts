import { type Clock, isoTime } from '../../core/clock.js'
import type { CheckedList, CheckView } from './port.js'
import type { ExplainedResult, ExplainStep, Explanation, WaveConfig } from './types.js'
import { isUnreadable } from './unreadable.js'
import {
  admits,
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
import type { StrategyFacts } from './wave/strategies.js'
import { whyOf } from './why.js'

/** Records a step. `beganMs` is from `performance.now()`. */
export type NoteStep = (
  step: ExplainStep['step'],
  outcome: string,
  beganMs: number,
  facts?: StrategyFacts & { detail?: string },
) => void

/** The current view of checks, which records each step. */
export type TracedStore = (note: NoteStep) => CheckView

interface Inquiry {
  readonly view: CheckView
  readonly customerId: string
  readonly now: number
  /** Steps for the list being explained, and for those it depends on. */
  steps: ExplainStep[]
  /** The chain of lists being explained, outermost first. */
  readonly path: string[]
  /** The list being explained, and the one that it depends on that decided. */
  top: CheckedList | undefined
  decidedBy: string | undefined
  /** Verdicts on lists that waves depend on. */
  readonly known: Map<string, Verdict>
}

/**
 * Gives the same result as a check, with its steps. It has its own code path, so that checks pay nothing for it.
 * The same functions as in checks decide each step (`verdict.ts`, `wave/`).
 */
export class Explainer {
  constructor(
    private readonly store: TracedStore,
    private readonly clock: Clock,
    private readonly withoutStore: WithoutStore,
  ) {}

  explain(customerId: string, listIds: readonly string[]): Promise<Explanation> {
    const ask = () => this.explainOnce(customerId, listIds)
    return retryOnViewChange(ask(), ask)
  }

  private async explainOnce(customerId: string, listIds: readonly string[]): Promise<Explanation> {
    const beganMs = performance.now()
    const path: string[] = []
    const note: NoteStep = (step, outcome, stepBeganMs, facts) => {
      const nested = path.length > 1 ? { allowlistId: path.at(-1)! } : {}
      inquiry.steps.push({ step, outcome, ...nested, ...facts, durationUs: elapsedUs(stepBeganMs) })
    }
    const view = this.store(note)
    const inquiry: Inquiry = {
      view,
      customerId,
      now: this.clock.now(),
      steps: [],
      path,
      top: undefined,
      decidedBy: undefined,
      known: new Map(),
    }
    const results: ExplainedResult[] = []
    for (const allowlistId of listIds) {
      inquiry.steps = []
      inquiry.top = inquiry.decidedBy = undefined
      const verdict = await this.asked(inquiry, note, allowlistId)
      const { type, reason } = verdict
      const degraded = isDegraded(verdict) ? ({ degraded: true } as const) : {}
      const asOf = verdict.asOf === undefined ? {} : { asOf: isoTime(verdict.asOf) }
      const { steps, decidedBy, now } = inquiry
      const list = inquiry.top as CheckedList | undefined
      const told = list && {
        name: list.name,
        why: whyOf({ list, verdict, steps, customerId, now, decidedBy }),
      }
      const allowed = admits(verdict)
      results.push({ allowlistId, ...told, allowed, type, reason, ...degraded, ...asOf, steps })
    }
    const overallAllowed = results.every(({ allowed }) => allowed)
    return { customerId, results, overallAllowed, durationUs: elapsedUs(beganMs) }
  }

  private async asked(inquiry: Inquiry, note: NoteStep, listId: string): Promise<Verdict> {
    try {
      return await one(inquiry, note, listId, 0)
    } catch (error) {
      inquiry.path.length = 0
      return verdictWithoutStore(error, this.withoutStore, undefined, (view) => {
        // The steps of an attempt that failed do not explain this verdict.
        inquiry.steps = []
        inquiry.decidedBy = undefined
        return one({ ...inquiry, view, steps: inquiry.steps, known: new Map() }, note, listId, 0)
      })
    }
  }
}

async function one(inquiry: Inquiry, note: NoteStep, listId: string, depth: number): Promise<Verdict> {
  const { path } = inquiry
  path.push(listId)
  const verdict = await judgeList(inquiry, note, listId, depth)
  path.pop()
  return verdict
}

async function judgeList(inquiry: Inquiry, note: NoteStep, listId: string, depth: number): Promise<Verdict> {
  try {
    const list = await inquiry.view.list(listId)
    if (inquiry.path.length === 1) inquiry.top = list
    return list === undefined ? NOT_FOUND : await judge(inquiry, note, list, depth)
  } catch (error) {
    if (isUnreadable(error)) return UNREADABLE
    throw error
  }
}

async function judge(inquiry: Inquiry, note: NoteStep, list: CheckedList, depth: number): Promise<Verdict> {
  const { view, customerId, now } = inquiry
  if (list.type === 'ONDA') return judgeWave(inquiry, note, list, depth)
  const member = await view.member(list, customerId)
  const beganMs = performance.now()
  const verdict = judgeMember(member, now)
  if (member !== undefined) {
    const { expiresAt } = member
    const outcome = expiresAt === undefined ? 'none' : verdict.reason === 'MEMBER' ? 'valid' : 'expired'
    note('expiry', outcome, beganMs, expiresAt === undefined ? {} : { detail: isoTime(expiresAt) })
  }
  return verdict
}

async function judgeWave(
  inquiry: Inquiry,
  note: NoteStep,
  list: CheckedList,
  depth: number,
): Promise<Verdict> {
  const beganMs = performance.now()
  const wave = compileWave(list)
  const isOpen = insideWindow(list.config!, inquiry.now)
  note('window', isOpen ? 'open' : 'closed', beganMs, windowFacts(list.config!))
  if (!isOpen) return OUTSIDE_WINDOW
  const { base, exclude = [] } = list.config!
  if ((base !== undefined || list.config!.exclude !== undefined) && depth >= MAX_CHAIN) return TOO_DEEP
  for (const other of exclude) {
    const verdict = await rest(inquiry, note, 'exclude', other, depth + 1)
    if (!endsExclusion(verdict)) continue
    inquiry.decidedBy = other
    return isUndecidable(verdict) ? verdict : EXCLUDED
  }
  if (base !== undefined) {
    const verdict = await rest(inquiry, note, 'base', base, depth + 1)
    if (!admits(verdict)) {
      inquiry.decidedBy = base
      return isUndecidable(verdict) ? verdict : OUT_OF_WAVE
    }
  }
  return judgeStrategy(inquiry, note, wave)
}

/** A list that a wave depends on. */
async function rest(
  inquiry: Inquiry,
  note: NoteStep,
  step: 'exclude' | 'base',
  listId: string,
  depth: number,
): Promise<Verdict> {
  const { known } = inquiry
  const beganMs = performance.now()
  let verdict = known.get(listId)
  if (verdict === undefined) {
    // Stops cycles. Only two concurrent changes can create one.
    known.set(listId, TOO_DEEP)
    verdict = await one(inquiry, note, listId, depth).finally(() => known.delete(listId))
    inquiry.decidedBy = undefined
    known.set(listId, verdict)
  }
  const outcome = isUndecidable(verdict) ? 'unknown' : admits(verdict) ? 'passes' : 'does-not-pass'
  note(step, outcome, beganMs, { detail: `${listId}: ${verdict.reason}` })
  return verdict
}

/** The list that a step is about, where it is not the checked one. */
const otherListOf = ({ step, allowlistId, detail = '' }: ExplainStep): string | undefined =>
  allowlistId ?? (step === 'base' || step === 'exclude' ? detail.split(':', 1)[0] : undefined)

/** Without what an explanation tells of other lists than the checked ones, as far as the reader may not see them. */
export function explainedWithin(
  { results, ...explanation }: Explanation,
  isSeen: (listId: string) => boolean,
): Explanation {
  const mayTell = (listId: string | undefined) => listId === undefined || isSeen(listId)
  const told = results.map(({ steps, why, ...result }) => {
    const { decidedBy, ...facts } = why ?? {}
    return {
      ...result,
      ...(why && { why: mayTell(decidedBy) ? why : facts }),
      steps: steps.filter((step) => mayTell(otherListOf(step))),
    }
  })
  return { ...explanation, results: told }
}

function judgeStrategy({ customerId, now }: Inquiry, note: NoteStep, wave: CompiledWave): Verdict {
  const beganMs = performance.now()
  const verdict = strategyVerdict(wave, customerId, now)
  const { step, admission } = wave
  if (step !== undefined)
    note(step, admits(verdict) ? 'in' : 'out', beganMs, admission.facts?.(customerId, now))
  return verdict
}

function windowFacts({ startTime, endTime }: WaveConfig): { detail?: string } {
  const from = Number.isFinite(startTime) ? [`from ${isoTime(startTime!)}`] : []
  const to = Number.isFinite(endTime) ? [`to ${isoTime(endTime!)}`] : []
  const detail = [...from, ...to].join(' ')
  return detail === '' ? {} : { detail }
}

/** Most steps take less than a microsecond, so the result has one decimal. */
const elapsedUs = (beganMs: number): number => Math.round((performance.now() - beganMs) * 10_000) / 10
