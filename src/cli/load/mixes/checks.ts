import { customerNumber } from '../customers.js'
import { below, type Mix, type MixContext, operation } from './mix.js'

/** The profile of the source design: 80 % answered by cache, 15 % by the filter, the rest confirmed by the store. */
const CACHED_SHARE = 0.8
const FILTERED_SHARE = 0.15
export const CONFIRMED_SHARE = 1 - CACHED_SHARE - FILTERED_SHARE
/** Customers that are checked again and again. */
const HOT_CUSTOMERS = 100
/** Numbers of customers who are on no list. */
const OUTSIDERS_FROM = 2_000_000_000

function questions({ origin, lists }: MixContext): (customerId: string) => string {
  const asked = lists.map(encodeURIComponent).join(',')
  return (customerId) => origin.get(`/customers/${encodeURIComponent(customerId)}/check?allowlists=${asked}`)
}

/**
 * The first member of the walk. It is random, so that a run does not meet members that an earlier run just confirmed.
 */
function startOf({ random, members }: MixContext): number {
  return below(random, members.length)
}

export const sourceMix: Mix = {
  description: 'allowlist checks: 80 % answered by cache, 15 % filtered, 5 % confirmed by the store',
  needsLists: true,
  open(context) {
    const { random, members } = context
    const ask = questions(context)
    const cached = operation('check: cached', 200)
    const filtered = operation('check: filtered', 200)
    const confirmed = operation('check: confirmed', 200)
    const hot = Math.min(HOT_CUSTOMERS, Math.max(1, members.length - 1))
    const rest = Math.max(1, members.length - hot)
    let walked = startOf(context)
    let outsider = OUTSIDERS_FROM + below(random, 1_000_000_000)
    return () => {
      const place = random()
      if (place < CACHED_SHARE) return { operation: cached, text: ask(members[below(random, hot)]!) }
      if (place < CACHED_SHARE + FILTERED_SHARE)
        return { operation: filtered, text: ask(customerNumber(outsider++)) }
      const member = members[hot + (walked++ % rest)] ?? members[0]!
      return { operation: confirmed, text: ask(member) }
    }
  },
}

export const checksMix: Mix = {
  description: 'allowlist checks, half of them about members, all customers alike',
  needsLists: true,
  open(context) {
    const { random, members } = context
    const ask = questions(context)
    const check = operation('check', 200)
    return () => ({
      operation: check,
      text: ask(
        random() < 0.5
          ? members[below(random, members.length)]!
          : customerNumber(OUTSIDERS_FROM + below(random, 1_000_000_000)),
      ),
    })
  },
}
