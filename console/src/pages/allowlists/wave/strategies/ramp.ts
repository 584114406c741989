import type { RampStep } from '../../../../../../src/guards/allowlist/wave/percentage.js'
import type { Texts } from '../../../../texts/en.js'
import { movedTime, type Problems, shareOf, type Typed, timeOf } from '../typed.js'

export interface DraftStep {
  key: number
  at: Typed
  share: Typed
}

/** The share before the first step, and the steps, while they are edited. */
export interface RampDraft {
  share: Typed
  ramp: DraftStep[]
}

let lastKey = 0

export function stepOf({ at, percentage }: RampStep, zone: string): DraftStep {
  return { key: ++lastKey, at: timeOf(at, zone), share: shareOf(percentage) }
}

export function rampInZone({ share, ramp }: RampDraft, zone: string): RampDraft {
  return { share, ramp: ramp.map((step) => ({ ...step, at: movedTime(step.at, zone) })) }
}

export function stepsOf({ ramp }: RampDraft): RampStep[] {
  return ramp
    .filter(({ at, share }) => at.value !== undefined && share.value !== undefined)
    .map(({ at, share }) => ({ at: at.value!, percentage: share.value! }))
}

/** Errors of steps are named `at KEY` and `share KEY`. */
export function rampProblems({ share, ramp }: RampDraft, texts: Texts['waves']['errors']): Problems {
  const problems: Problems = {}
  if (share.value === undefined) problems.share = texts.share
  let latest = Number.NEGATIVE_INFINITY
  for (const { key, at, share } of ramp) {
    if (share.value === undefined) problems[`share ${key}`] = texts.share
    if (at.value === undefined) problems[`at ${key}`] = texts.time
    else if (at.value <= latest) problems[`at ${key}`] = texts.order
    latest = Math.max(latest, at.value ?? latest)
  }
  return problems
}

const STRIDES = [0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 1]
/** A step by more than this, in shares, leaves no time to see what goes wrong. */
export const LARGEST_STRIDE = 0.5

/** The next step after the present end of the ramp. */
export function nextShare({ ramp, share }: RampDraft): number {
  const reached = (ramp.at(-1)?.share ?? share).value ?? 0
  return STRIDES.find((stride) => stride > reached) ?? 1
}

/** Warnings about steps that can be saved but may be mistakes, by the key of the step. */
export function rampWarnings({ share: first, ramp }: RampDraft, texts: Texts['waves']['warnings']): Problems {
  const warnings: Problems = {}
  let before = first.value
  for (const { key, share } of ramp) {
    if (before !== undefined && share.value !== undefined) {
      if (share.value < before) warnings[key] = texts.drop
      else if (share.value - before > LARGEST_STRIDE) warnings[key] = texts.jump
    }
    before = share.value ?? before
  }
  return warnings
}
