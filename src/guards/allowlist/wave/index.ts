import { CatracaError } from '../../../core/errors.js'
import { isUuid } from '../../../core/identifiers.js'
import type { ListRecord } from '../port.js'
import type { RampStep, WaveStrategy } from '../types.js'
import { NO_SALT, placeFromState, saltState, unsaltedPlace } from './hash.js'

/** The decisions of a wave alone. The guard decides `EXCLUDED` and the base list, because they need other lists. */
export type WaveAnswer = 'IN_WAVE' | 'OUT_OF_WAVE' | 'OUTSIDE_WINDOW'

/** The rule of an ONDA list, compiled once so that a check only computes. */
export interface CompiledWave {
  readonly strategy: WaveStrategy
  /** First and last millisecond of the window, inclusive. Infinite where the rule sets none. */
  readonly startTime: number
  readonly endTime: number
  /** The percentage before the first ramp step. */
  readonly percentage: number
  /** Ascending by time. */
  readonly ramp: readonly RampStep[]
  readonly customerIds: ReadonlySet<string>
  /** Absent for a wave without salt. */
  readonly saltState: number | undefined
}

export function compileWave(list: Pick<ListRecord, 'config' | 'salt'>): CompiledWave {
  const { config, salt } = list
  if (config === undefined) throw new CatracaError('INTERNAL', 'a wave needs a config')
  return {
    strategy: config.strategy,
    startTime: config.startTime ?? Number.NEGATIVE_INFINITY,
    endTime: config.endTime ?? Number.POSITIVE_INFINITY,
    percentage: config.percentage ?? 0,
    ramp: (config.ramp ?? []).toSorted((a, b) => a.at - b.at),
    customerIds: new Set((config.customerIds ?? []).map((id) => (isUuid(id) ? id.toLowerCase() : id))),
    saltState: salt === NO_SALT ? undefined : saltState(salt),
  }
}

/** Customer ids must be in canonical spelling. `now` is in epoch milliseconds. */
export function evaluateWave(wave: CompiledWave, customerId: string, now: number): WaveAnswer {
  if (!insideWindow(wave, now)) return 'OUTSIDE_WINDOW'
  return strategyAdmits(wave, customerId, now) ? 'IN_WAVE' : 'OUT_OF_WAVE'
}

/** The time window applies to every strategy. */
export function insideWindow(wave: CompiledWave, now: number): boolean {
  return now >= wave.startTime && now <= wave.endTime
}

/** Applies the strategy alone. The caller must check `insideWindow` first, which is all that TIME_WINDOW needs. */
export function strategyAdmits(wave: CompiledWave, customerId: string, now: number): boolean {
  switch (wave.strategy) {
    case 'PERCENTAGE':
      return placeIn(wave, customerId) < effectivePercentage(wave, now)
    case 'TIME_WINDOW':
      return true
    case 'EXPLICIT_LIST':
      return wave.customerIds.has(customerId)
    default:
      // An unknown strategy, written by a newer version, must not open the wave.
      return false
  }
}

/** The customer's place, from 0 to 1. A wave admits places below its percentage. */
export function placeIn({ saltState }: CompiledWave, customerId: string): number {
  return saltState === undefined ? unsaltedPlace(customerId) : placeFromState(saltState, customerId)
}

/** The percentage at `now`: that of the latest ramp step, or `percentage` before the first. */
export function effectivePercentage(wave: CompiledWave, now: number): number {
  const { ramp } = wave
  let begun = 0
  let end = ramp.length
  while (begun < end) {
    const middle = (begun + end) >>> 1
    if (ramp[middle]!.at <= now) begun = middle + 1
    else end = middle
  }
  return begun === 0 ? wave.percentage : ramp[begun - 1]!.percentage
}
