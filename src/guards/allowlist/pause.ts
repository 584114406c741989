import type { WaveConfig } from './types.js'

/**
 * When a wave was paused, and the fields that the pause replaced. A field that is absent here was absent in the rule.
 */
export interface Pause extends Pick<WaveConfig, 'percentage' | 'ramp' | 'startTime' | 'endTime'> {
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
 * Closes the wave from now on, whatever ramp steps are planned. A rule without a percentage is closed by its time
 * window. A rule that is already paused stays unchanged.
 */
export function pausedConfig(config: StoredConfig, now: number): StoredConfig {
  if (config.paused !== undefined) return config
  const { percentage, ramp, startTime, endTime, ...rest } = config
  const window = { ...(startTime !== undefined && { startTime }), ...(endTime !== undefined && { endTime }) }
  if (config.strategy === 'PERCENTAGE') {
    const replaced = { ...(percentage !== undefined && { percentage }), ...(ramp !== undefined && { ramp }) }
    return { ...rest, ...window, percentage: 0, paused: { at: now, ...replaced } }
  }
  const end = Math.max(0, now - SKEW_MS)
  return {
    ...rest,
    ...(startTime !== undefined && startTime < end && { startTime }),
    endTime: end,
    paused: { at: now, ...window },
  }
}

/** The rule before the pause. Undefined if the rule is not paused. */
export function resumedConfig(config: StoredConfig): WaveConfig | undefined {
  const { paused, ...rule } = config
  if (paused === undefined) return undefined
  const { at: _, ...replaced } = paused
  if (rule.strategy === 'PERCENTAGE') {
    const { percentage: __, ramp: ___, ...kept } = rule
    return { ...kept, ...replaced }
  }
  const { startTime: __, endTime: ___, ...kept } = rule
  return { ...kept, ...replaced }
}
