import { isoTime, systemClock } from '../../../core/clock.js'
import { invalid } from '../../../core/errors.js'
import type { CheckFigures } from '../../../guards/allowlist/check-figures.js'
import { MAX_DENIED_ITEMS } from '../../../guards/rate-limit/denied-top.js'
import { DENIALS } from '../../../wire/server.js'
import type { ServerContext } from '../../http/context.js'
import type { App } from '../../http/instance.js'
import { addRoutes } from '../add-routes.js'

const MOST = 100

/** What this process denied most often. */
export function denialRoutes(app: App, context: ServerContext): void {
  const { catraca, gate } = context
  const since = isoTime(systemClock.now())
  addRoutes(app, context, DENIALS, {
    getDenials: ({ query: { limit = 10 }, raw }) => {
      if (limit < 1 || limit > MOST) throw invalid('limit', `must be from 1 to ${MOST}`)
      const reach = gate.reach(raw, 'read')
      const { since: limitsSince, items } = catraca.limits.topDenied({ limit: MAX_DENIED_ITEMS })
      const lists = listsOf(catraca.allowlists.figures).filter(
        ({ allowlistId }) => reach?.covers('lists', allowlistId) ?? true,
      )
      const limits = items.filter(({ resource }) => reach?.covers('resources', resource) ?? true)
      return { since, lists: lists.slice(0, limit), limitsSince, limits: limits.slice(0, limit) }
    },
  })
}

function listsOf(figures: CheckFigures | undefined) {
  return [...(figures?.sums() ?? [])]
    .map(([allowlistId, { allowed, denied }]) => ({ allowlistId, denied, allowed }))
    .filter(({ denied }) => denied > 0)
    .sort((a, b) => b.denied - a.denied)
}
