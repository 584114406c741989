import type { WaveConfig } from './types.js'

/** When a wave was paused, and the fields that the pause took the place of. What is absent here was absent there. */
export interface Pause extends Pick<WaveConfig, 'percentage' | 'ramp' | 'startTime' | 'endTime'> {
  at: number
}

/**
 * The rule of a wave as engines keep it. The rule itself is closed while `paused` is there, so that older versions, and
 * other programs that read the store, let nobody pass either.
 */
export interface StoredConfig extends WaveConfig {
  paused?: Pause
}

/** An end that is past on this clock must be past on every clock that judges it. */
const SKEW_MS = 3_600_000

/**
 * Nobody passes from now on, whatever steps were planned. A rule without a share is closed by its window. A rule that is
 * paused already stays as it is.
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

/** The rule as it was before its pause; undefined for a rule that is not paused. */
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
