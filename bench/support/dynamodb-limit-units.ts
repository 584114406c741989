import { bucket, cost, lease, of } from '../../src/conformance/rate-limit/support.js'
import type { DynamodbEngine } from '../../src/engines/dynamodb/index.js'
import { SplitCounters } from '../../src/engines/dynamodb/rate-limit/split-counters.js'
import type { UsageHour } from '../../src/guards/rate-limit/port.js'
import { type CountedUnits, unitsOf } from './dynamodb-units.js'

const HOUR = 1_893_456_000_000
const PARTS = 8
const VERBS = ['limit.take', 'limit.look', 'limit.correct', 'limit.usage', 'limit.reset']

/** What rate limits cost, by the name of the operation in `docs/cost.md`. */
export async function limitUnits({ limits, capacity }: DynamodbEngine): Promise<CountedUnits> {
  const { counters, usage } = limits
  const now = Date.now()
  const one = [of('one', cost('rpm', bucket(1000), 1), cost('tpm', bucket(1000), 1))]
  const spent = [of('spent', cost('rpm', bucket(1), 1))]
  const both = [of('child', cost('rpm', bucket(9), 1)), of('parent', cost('rpm', bucket(9), 1))]
  const used = { limit: 'rpm', admitted: 1, denied: 0 }
  const hour: UsageHour = {
    resource: 'r',
    start: HOUR,
    totals: [used],
    // As many as an hour holds by default, so that the item is as large as it gets.
    entities: Array.from({ length: 20 }, (_, i) => ({ entity: `customer-${i}`, ...used })),
  }
  const { at } = await counters.take(one, now)
  await counters.take(spent, now)
  await counters.take(both, now)
  const split = new SplitCounters(counters, [
    { resource: 'gpt-4', entity: 'split', parts: PARTS },
    { resource: 'gpt-4', entity: 'all', parts: PARTS },
  ])
  const inParts = [of('split', cost('rpm', bucket(1000), 1))]
  const allSpent = [of('all', cost('rpm', bucket(PARTS), 1))]
  for (let i = 0; i < PARTS; i++) await split.take(allSpent, now)
  const units = (work: () => Promise<unknown>) => unitsOf(capacity, work, VERBS)
  return {
    'acquire, all limits of a subject': await units(() => counters.take(one, now)),
    'acquire that the table denies': await units(() => counters.take(spent, now)),
    'acquire with a parent': await units(() => counters.take(both, now)),
    'acquire of a limit in 8 parts (`dynamodb.splitLimits`)': await units(() => split.take(inParts, now)),
    'acquire that all 8 parts deny': await units(() => split.take(allSpent, now)),
    'lease given back or adjusted': await units(() => counters.giveBack(lease(one, {}, at), now)),
    'usage of a resource, each time it is written down': await units(() =>
      usage.count([hour], { entities: 20, ms: 86_400_000 }),
    ),
  }
}
