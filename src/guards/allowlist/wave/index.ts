import { CatracaError } from '../../../core/errors.js'
import { isUuid } from '../../../core/identifiers.js'
import type { ListRecord } from '../port.js'
import type { RampStep, WaveStrategy } from '../types.js'
import { NO_SALT, placeFromState, saltState, unsaltedPlace } from './hash.js'

/** What a wave decides by itself. `EXCLUDED` and the base list are the guard's: they need other lists. */
export type WaveAnswer = 'IN_WAVE' | 'OUT_OF_WAVE' | 'OUTSIDE_WINDOW'

/** The rule of an ONDA list, prepared once so that a check only computes. */
export interface CompiledWave {
  readonly strategy: WaveStrategy
  /** First and last millisecond of the window, both inside; infinite where the rule sets none. */
  readonly startTime: number
  readonly endTime: number
  /** The share before the first step of the ramp. */
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

/** Customer ids arrive in canonical spelling, `now` in epoch milliseconds. */
export function evaluateWave(wave: CompiledWave, customerId: string, now: number): WaveAnswer {
  if (!insideWindow(wave, now)) return 'OUTSIDE_WINDOW'
  return strategyAdmits(wave, customerId, now) ? 'IN_WAVE' : 'OUT_OF_WAVE'
}

/** Time bounds hold for every strategy. */
export function insideWindow(wave: CompiledWave, now: number): boolean {
  return now >= wave.startTime && now <= wave.endTime
}

/** The strategy alone: whoever asks has asked `insideWindow` first, which is all that TIME_WINDOW wants. */
export function strategyAdmits(wave: CompiledWave, customerId: string, now: number): boolean {
  switch (wave.strategy) {
    case 'PERCENTAGE':
      return placeIn(wave, customerId) < effectivePercentage(wave, now)
    case 'TIME_WINDOW':
      return true
    case 'EXPLICIT_LIST':
      return wave.customerIds.has(customerId)
    default:
      // A strategy written by a newer version must not open the wave.
      return false
  }
}

/** Where the customer stands, from 0 to 1: a wave is open to those below its percentage. */
export function placeIn({ saltState }: CompiledWave, customerId: string): number {
  return saltState === undefined ? unsaltedPlace(customerId) : placeFromState(saltState, customerId)
}

/** The share that is open at `now`: that of the last step begun, or `percentage` before the first. */
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
