import type { WaveConfig } from './types.js'
import { strategyOf } from './wave/strategies.js'

/**
 * When a wave was paused, and the fields that the pause replaced. A field that is absent here was absent in the rule.
 */
export interface Pause extends Omit<WaveConfig, 'strategy'> {
  at: number
}

/**
 * The rule of a wave as engines store it. While `paused` is present, the rule itself is closed, so that older
 * versions, and other programs that read the store, deny too.
 */
export interface StoredConfig extends WaveConfig {
  paused?: Pause
}

/** The end must lie in the past on every clock that evaluates it. */
const SKEW_MS = 3_600_000

/**
 * Closes the wave from now on, whatever is planned: by the fields of its strategy, or by its time window. A rule that
 * is already paused stays unchanged.
 */
export function pausedConfig(config: StoredConfig, now: number): StoredConfig {
  if (config.paused !== undefined) return config
  const [replaced, kept] = split(config)
  const closed = strategyOf(config)?.closed ?? closedWindow(config, now)
  return { ...kept, ...closed, paused: { at: now, ...replaced } }
}

/** The rule before the pause. Undefined if the rule is not paused. */
export function resumedConfig({ paused, ...rule }: StoredConfig): WaveConfig | undefined {
  if (paused === undefined) return undefined
  const { at: _, ...replaced } = paused
  return { ...split(rule)[1], ...replaced }
}

/** The same, with what was planned to happen since the pause moved by the time that it lasted. */
export function postponedConfig(config: StoredConfig, now: number): WaveConfig | undefined {
  const rule = resumedConfig(config)
  if (rule === undefined) return undefined
  const { at } = config.paused!
  return { ...rule, ...strategyOf(rule)?.postponed?.(rule, at, Math.max(0, now - at)) }
}

/** The fields that a pause replaces, and the others. */
function split(config: WaveConfig): [Omit<Pause, 'at'>, WaveConfig] {
  const strategy = strategyOf(config)
  const names = strategy?.closed ? Object.keys(strategy.fields) : ['startTime', 'endTime']
  const fields = Object.entries(config)
  const [replaced, kept] = [true, false].map((isReplaced) =>
    Object.fromEntries(fields.filter(([name]) => names.includes(name) === isReplaced)),
  )
  return [replaced!, kept as WaveConfig]
}

function closedWindow({ startTime }: WaveConfig, now: number): Pick<WaveConfig, 'startTime' | 'endTime'> {
  const endTime = Math.max(0, now - SKEW_MS)
  return startTime !== undefined && startTime < endTime ? { startTime, endTime } : { endTime }
}
