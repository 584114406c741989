// A Pix transfer: who may use it, how much and how often, and each transfer once.
//
// The order: allowlist (answered from memory), then the claim of the idempotency key, then the limits inside of it. So a
// repeated request gets its first answer without being counted again, and a transfer that the limits deny may be tried
// later under the same key. What the ledger refuses is given back to the limits.
import { manualClock, openCatraca, quotaExceeded } from 'catraca'

// Programs leave the clock out. Here it is moved by hand, so that nobody has to wait.
const clock = manualClock('2030-01-01T12:00:00Z')
const catraca = await openCatraca({ store: 'memory:', clock })
const { allowlists, idempotency, limits } = catraca

await allowlists.create({ id: 'pix-beta', name: 'Pix for the first customers', type: 'FIXA' })
for (const customer of ['ann', 'bob']) await allowlists.add('pix-beta', customer)
await limits.setConfig(
  { level: 'system', resource: 'pix' },
  {
    limits: {
      // In centavos: R$ 1,000.00 a day.
      amount: { capacity: 100_000, refillPeriodSeconds: 86_400, algorithm: 'sliding-window-counter' },
      transfers: { capacity: 3, refillPeriodSeconds: 60, algorithm: 'sliding-window' },
    },
  },
)
await limits.setConfig(
  { level: 'entity', entity: 'bob', resource: 'pix' },
  { limits: { amount: { capacity: 500_000 } } },
)

const balances = new Map([
  ['ann', 60_000],
  ['bob', 900_000],
])

async function transfer({ customer, key, to, amount }) {
  const { overallAllowed } = await allowlists.check(customer, ['pix-beta'])
  if (!overallAllowed) return { status: 403 }
  const request = { operation: 'PIX', key, payload: { customer, to, amount } }
  try {
    const result = await idempotency.run(request, async () => {
      const consume = { amount, transfers: 1 }
      const answer = await limits.acquire({ entity: customer, resource: 'pix', consume })
      // This error says that nothing was executed, so the key stays free.
      if (!answer.allowed) throw quotaExceeded(answer)
      const balance = balances.get(customer) - amount
      if (balance < 0) {
        await limits.giveBack(answer.leaseId)
        return { status: 422, why: 'not enough money' }
      }
      balances.set(customer, balance)
      return { status: 201, balance }
    })
    if (result.outcome === 'refused')
      return { status: result.reason === 'in-progress' ? 409 : 422, why: result.reason }
    return { ...result.value, replayed: result.outcome === 'replayed' }
  } catch (error) {
    if (error.code !== 'QUOTA_EXCEEDED') throw error
    return { status: 429, why: error.facts['violated-policies'].join() }
  }
}

const show = async (what, order) => console.log(`${what}: ${JSON.stringify(await transfer(order))}`)
const order = { customer: 'ann', key: 'e2e-1', to: 'bob', amount: 50_000 }
await show('ann sends', order)
await show('ann sends again, after a timeout', order)
await show('the same key, another amount', { ...order, amount: 1 })
await show('more than she has', { ...order, key: 'e2e-2', amount: 20_000 })
await show('more than a day allows', { ...order, key: 'e2e-3', amount: 60_000 })
await show('bob has a limit of his own', { customer: 'bob', key: 'e2e-4', to: 'ann', amount: 400_000 })
await show('carol is not in the beta', { ...order, customer: 'carol', key: 'e2e-5' })
clock.advance(2 * 86_400_000)
await show('a smaller one, two days later, under the key that was denied', {
  ...order,
  key: 'e2e-3',
  amount: 10_000,
})
await catraca.close()
