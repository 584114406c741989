// @ts-check
// A list of customers, and who may pass. Run: node examples/first-list.mjs
import { openCatraca } from 'catraca'

// `memory:` leaves nothing behind; `embedded:./catraca-data` keeps the data.
const catraca = await openCatraca({ store: 'memory:' })
const { allowlists } = catraca

await allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
await allowlists.add('vip', 'alice', { addedBy: 'sales', metadata: { tier: 'gold' } })
await allowlists.add('vip', 'bob', { expiresAt: '2020-01-01T00:00:00Z' })

for (const customer of ['alice', 'bob', 'carol']) {
  const { results, overallAllowed } = await allowlists.check(customer, ['vip'])
  console.log(`${customer}: ${overallAllowed ? 'may pass' : 'may not pass'} (${results[0]?.reason})`)
}

// A list that does not exist denies, and says so.
const answer = await allowlists.check('alice', ['vip', 'no-such-list'])
console.log(`both lists: ${answer.results.map(({ reason }) => reason).join(', ')}`)

const { removed, customerCount } = await allowlists.remove('vip', 'alice')
console.log(`alice removed: ${removed}, ${customerCount} left`)

await catraca.close()
