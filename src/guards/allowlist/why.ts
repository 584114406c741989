import { isoTime } from '../../core/clock.js'
import type { CheckedList } from './port.js'
import type { ExplainStep, Why } from './types.js'
import type { Verdict } from './verdict.js'
import { insideWindow } from './wave/common-fields.js'
import { compileWave } from './wave/index.js'
import { strategyOf } from './wave/strategies.js'

interface Explained {
  list: CheckedList
  verdict: Verdict
  steps: readonly ExplainStep[]
  customerId: string
  now: number
  /** The list that a wave depends on, and that decided. */
  decidedBy: string | undefined
}

/** The facts that one sentence about the verdict needs. */
export function whyOf(explained: Explained): Why {
  const { list, verdict, steps, decidedBy } = explained
  if (list.config === undefined) {
    const expiredAt = steps.find(
      ({ step, allowlistId }) => step === 'expiry' && allowlistId === undefined,
    )?.detail
    return verdict.reason === 'MEMBER_EXPIRED' && expiredAt !== undefined ? { expiredAt } : {}
  }
  const { paused } = list.config
  return {
    ...(paused !== undefined && { pausedAt: isoTime(paused.at) }),
    ...(decidedBy !== undefined && { decidedBy }),
    ...windowFacts(explained),
    ...(decidedBy === undefined && placeFacts(explained)),
  }
}

function windowFacts({ list, verdict, now }: Explained): Why {
  const { startTime, endTime, paused } = list.config!
  if (verdict.reason !== 'OUTSIDE_WINDOW' || paused !== undefined) return {}
  if (startTime !== undefined && now < startTime) return { opensAt: isoTime(startTime) }
  return endTime === undefined ? {} : { closedAt: isoTime(endTime) }
}

function placeFacts({ list, verdict, steps, customerId, now }: Explained): Why {
  const config = list.config!
  const own = steps.find(({ place, allowlistId }) => place !== undefined && allowlistId === undefined)
  const facts = own === undefined ? {} : { place: own.place!, share: own.percentage! }
  if (verdict.reason !== 'OUT_OF_WAVE' || config.paused !== undefined) return facts
  const { admission } = compileWave(list)
  const turns = strategyOf(config)?.turns(config) ?? []
  const reaching = turns.filter(
    (at) => at > now && insideWindow(config, at) && admission.admits(customerId, at),
  )
  if (reaching.length === 0) return { ...facts, neverReached: true }
  return { ...facts, reachesAt: isoTime(Math.min(...reaching)) }
}
