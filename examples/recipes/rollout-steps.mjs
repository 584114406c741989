// A feature that is opened by steps: the team first, then shares of the customers that grow by themselves, and a pause in an
// emergency. Whoever was let in stays in.
//
// Nothing is deployed for a step: the rule is data. It is changed here by the library; people do it on the command line
// (`catraca allowlist ramp …`) or in the console.
import { manualClock, openCatraca } from 'catraca'

const DAY_MS = 24 * 3600 * 1000
// Programs leave the clock out. Here it is moved by hand, so that nobody has to wait for days.
const clock = manualClock('2030-01-01T09:00:00Z')
const catraca = await openCatraca({ store: 'memory:', clock })
const { allowlists } = catraca
const monday = clock.now()

await allowlists.create({ id: 'team', name: 'The team', type: 'FIXA' })
await allowlists.add('team', 'developer-1')
const at = (day, percentage) => ({ at: monday + day * DAY_MS, percentage })
await allowlists.create({
  id: 'new-checkout',
  name: 'New checkout',
  type: 'ONDA',
  config: {
    strategy: 'PERCENTAGE',
    percentage: 0,
    startTime: monday,
    ramp: [at(1, 0.05), at(2, 0.25), at(3, 1)],
  },
})

const customers = Array.from({ length: 1000 }, (_, i) => `customer-${i}`)
/** The one line of the service: the team, or the wave. */
const sees = async (customer) => {
  const { results } = await allowlists.check(customer, ['team', 'new-checkout'])
  return results.some(({ allowed }) => allowed)
}

async function who() {
  const inside = new Set()
  for (const customer of customers) if (await sees(customer)) inside.add(customer)
  return inside
}

let before = new Set()
async function report(when) {
  const now = await who()
  const stayed = [...before].every((customer) => now.has(customer))
  const share = now.size === 0 ? 'none' : now.size === 1000 ? 'all' : now.size < 100 ? 'few' : 'some'
  console.log(
    `${when}: ${share} of 1000 customers, those before stayed: ${stayed}, the team: ${await sees('developer-1')}`,
  )
  if (now.size > 0) before = now
}

await report('monday')
clock.advance(DAY_MS)
await report('tuesday')
clock.advance(DAY_MS)
await report('wednesday')

// Something is wrong: nobody but the team sees it, from the next check on.
await allowlists.pause('new-checkout')
const paused = await who()
console.log(`paused: ${paused.size} customers`)
await allowlists.resume('new-checkout')
await report('resumed')
clock.advance(DAY_MS)
await report('thursday')
await catraca.close()
