// A consumer of a queue that delivers at least once: each message is worked on once, and every delivery gets a decision.
import { idempotentConsumer, openCatraca } from 'catraca'

const catraca = await openCatraca({ store: 'memory:' })
const balance = new Map()
let downs = 1

const consume = idempotentConsumer({
  idempotency: catraca.idempotency,
  key: (message) => message.id,
  payload: (message) => message.body,
  maxAttempts: 3,
  async handle({ body: { account, amount } }) {
    if (account === 'bob' && downs-- > 0) throw new Error('ledger is down')
    balance.set(account, (balance.get(account) ?? 0) + amount)
    return { balance: balance.get(account) }
  },
})

// A queue of this kind delivers twice, out of order, and again after a failure.
const deliveries = [
  { id: 'm-1', body: { account: 'ann', amount: 10 } },
  { id: 'm-2', body: { account: 'bob', amount: 5 } },
  { id: 'm-1', body: { account: 'ann', amount: 10 } },
  { id: 'm-2', body: { account: 'bob', amount: 5 } },
  { id: 'm-1', body: { account: 'ann', amount: 999 } },
]
for (const message of deliveries) {
  const decision = await consume(message)
  switch (decision.action) {
    case 'ack':
      console.log(
        `${message.id}: ack, ${decision.replayed ? 'done before' : 'done'}, balance ${decision.value.balance}`,
      )
      break
    case 'redeliver':
      console.log(
        `${message.id}: again in ${decision.delayMs} ms (${decision.why}: ${decision.error?.message})`,
      )
      break
    case 'reject':
      console.log(`${message.id}: to the dead letters (${decision.why})`)
      break
  }
}
console.log(`balances: ${[...balance].map(([who, amount]) => `${who} ${amount}`).join(', ')}`)
await catraca.close()
