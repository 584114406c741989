import type { LevelConfig } from './types.js'

/**
 * `local` is stored beside `onUnavailable`, not in it: older versions and other programs know only `allow` and
 * `block`. To them the level says `block`.
 */
type Stored = Omit<LevelConfig, 'onUnavailable'> & {
  onUnavailable?: 'allow' | 'block'
  onUnavailableLocal?: true
}

/** A configuration as JSON text, for engines that store text. */
export function storedText({ onUnavailable, ...config }: LevelConfig): string {
  const how: Pick<Stored, 'onUnavailable' | 'onUnavailableLocal'> =
    onUnavailable === 'local'
      ? { onUnavailable: 'block', onUnavailableLocal: true }
      : { ...(onUnavailable && { onUnavailable }) }
  return JSON.stringify({ ...config, ...how } satisfies Stored)
}

export function configFrom(text: string): LevelConfig {
  const { onUnavailableLocal, ...config } = JSON.parse(text) as Stored
  return { ...config, ...onUnavailableFrom(config.onUnavailable, onUnavailableLocal === true) }
}

/** A program that does not know `local` may have changed the other field since: then that one holds. */
export function onUnavailableFrom(
  stored: 'allow' | 'block' | undefined,
  isLocal: boolean,
): Pick<LevelConfig, 'onUnavailable'> {
  if (stored === undefined) return {}
  return { onUnavailable: isLocal && stored === 'block' ? 'local' : stored }
}
