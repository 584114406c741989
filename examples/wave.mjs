// @ts-check
// A wave that opens by steps, with the clock in hand. Run: node examples/wave.mjs
import { ManualClock, openCatraca } from 'catraca'

const DAY_MS = 24 * 3600 * 1000
const firstDay = Date.UTC(2030, 0, 1)
// Programs leave the clock out; here it is moved by hand, so that nobody has to wait for days.
const clock = new ManualClock(firstDay)
const catraca = await openCatraca({ store: 'memory:', clock })
const { allowlists } = catraca

await allowlists.create({ id: 'staff', name: 'Staff', type: 'FIXA' })
await allowlists.add('staff', 'customer-0')
await allowlists.create({
  id: 'new-checkout',
  name: 'New checkout',
  type: 'ONDA',
  config: {
    strategy: 'PERCENTAGE',
    percentage: 0,
    startTime: firstDay,
    ramp: [
      { at: firstDay + 1 * DAY_MS, percentage: 0.1 },
      { at: firstDay + 2 * DAY_MS, percentage: 0.5 },
      { at: firstDay + 3 * DAY_MS, percentage: 1 },
    ],
    exclude: ['staff'],
  },
})

const customerIds = Array.from({ length: 1000 }, (_, i) => `customer-${i}`)
/** @type {Set<string>} */
let before = new Set()
for (let day = 0; day <= 3; day++) {
  clock.set(firstDay + day * DAY_MS)
  const { results } = await allowlists.checkMany({ customerIds, allowlists: ['new-checkout'] })
  const inside = new Set(results.filter((one) => one.overallAllowed).map((one) => one.customerId))
  const stayed = [...before].every((customer) => inside.has(customer))
  console.log(`day ${day}: ${inside.size} of 1000 are in; everybody who was in stayed: ${stayed}`)
  before = inside
}

const { results } = await allowlists.check('customer-0', ['new-checkout'])
console.log(`customer-0: ${results[0]?.reason}`)

await catraca.close()
