import type { ProcessFigures } from '../guards/fleet/index.js'
import type { EngineCalls } from './engine-calls.js'
import type { OpenedAllowlists } from './open-allowlists.js'

/** A list that was never known to be complete is infinitely far behind, which JSON cannot say. */
const MOST_LAG_MS = 24 * 3_600_000

/** What a process tells the others of itself. */
export function fleetFigures(
  lists: OpenedAllowlists | undefined,
  { calls, isCounting }: { calls: EngineCalls; isCounting: boolean },
): ProcessFigures {
  const { lists: count = 0, staleLists = 0, feedLagMs = 0 } = lists?.indexes.figures() ?? {}
  const figures = lists?.allowlists.figures
  const { allowed = 0, blocked = 0, last_known = 0 } = figures?.degraded ?? {}
  let errors = 0
  for (const { outcomes } of calls.rows()) {
    errors += outcomes.unavailable + outcomes.timeout + outcomes.unknown_outcome + outcomes.error
  }
  return {
    lists: count,
    staleLists,
    feedLagMs: Math.round(Math.min(feedLagMs, MOST_LAG_MS)),
    followed: lists?.indexes.followed() ?? [],
    checks: isCounting && figures !== undefined ? figures.allowed + figures.denied : undefined,
    errors,
    degraded: allowed + blocked + last_known,
  }
}
