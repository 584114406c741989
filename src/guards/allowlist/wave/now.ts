import { isoTime } from '../../../core/clock.js'
import type { StoredConfig } from '../pause.js'
import { insideWindow } from './common-fields.js'
import { strategyOf } from './strategies.js'

/** How far a wave is open. A share of 1 is `open`, as are the strategies that have no share. */
export const WAVE_STATES = ['paused', 'scheduled', 'closed', 'partial', 'open', 'ended'] as const
export type WaveState = (typeof WAVE_STATES)[number]
export const WAVE_TURNS = ['start', 'ramp', 'end'] as const

/** The next time at which a wave admits others than before. */
export interface NextStep {
  /** ISO 8601. */
  at: string
  turn: (typeof WAVE_TURNS)[number]
  /** The share from then on, from 0 to 1. Absent for strategies that have no share. */
  share?: number
}

export interface WaveNow {
  state: WaveState
  /** From 0 to 1. Absent for strategies that have no share. */
  share?: number
  /** Absent if nothing more is planned, and while the wave is paused. */
  nextStep?: NextStep
}

interface Turn {
  at: number
  turn: NextStep['turn']
}

/** Where the rule of a wave stands. */
export function waveNow(config: StoredConfig, now: number): WaveNow {
  if (config.paused !== undefined) return { state: 'paused' }
  const { startTime, endTime } = config
  const next = nextTurn(config, now)
  const nextStep = next && {
    nextStep: { at: isoTime(next.at), turn: next.turn, ...shareOf(config, next.at, next.turn === 'end') },
  }
  if (startTime !== undefined && now < startTime) return { state: 'scheduled', ...nextStep }
  if (endTime !== undefined && now > endTime) return { state: 'ended' }
  const share = strategyOf(config)?.shareAt(config, now) ?? 0
  const state = share <= 0 ? 'closed' : share >= 1 ? 'open' : 'partial'
  return { state, ...shareOf(config, now, false), ...nextStep }
}

/** Only strategies that split the customers by place have a share. */
function shareOf(config: StoredConfig, at: number, isOver: boolean): { share?: number } {
  const strategy = strategyOf(config)
  if (strategy?.flagReason !== 'SPLIT') return {}
  return { share: isOver ? 0 : strategy.shareAt(config, at) }
}

/** The next time at which the rule changes. */
export function nextTurn(config: StoredConfig, now: number): Turn | undefined {
  const { startTime, endTime } = config
  const ramp = strategyOf(config)?.turns(config) ?? []
  const turns: Turn[] = ramp.filter((at) => insideWindow(config, at)).map((at) => ({ at, turn: 'ramp' }))
  if (startTime !== undefined) turns.unshift({ at: startTime, turn: 'start' })
  if (endTime !== undefined) turns.push({ at: endTime, turn: 'end' })
  return turns.filter(({ at }) => at > now).reduce<Turn | undefined>(earlier, undefined)
}

const earlier = (first: Turn | undefined, turn: Turn): Turn =>
  first === undefined || turn.at < first.at ? turn : first
