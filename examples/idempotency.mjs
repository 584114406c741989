// Idempotency: a request that is repeated, one that fails and is tried again, and a key that is used twice.
import { openCatraca, refusalError } from 'catraca'

const catraca = await openCatraca({ store: 'memory:' })
const { idempotency } = catraca

let sent = 0
const send = (key, payload, work) => idempotency.run({ operation: 'PRODUCE', key, payload }, work)
const produce = async () => ({ processedMessages: 100, sent: ++sent })

const first = await send('order-1', { queue: 'DEV.QUEUE.1', messages: 100 }, produce)
console.log(`first: ${first.outcome}, sent ${first.value.sent} time(s)`)

// Neither the order of keys nor the form of numbers makes it another request.
const again = await send('order-1', { messages: 1e2, queue: 'DEV.QUEUE.1' }, produce)
console.log(`again: ${again.outcome}, sent ${again.value.sent} time(s)`)

const other = await send('order-1', { queue: 'DEV.QUEUE.2' }, produce)
console.log(`other request, same key: ${other.outcome} (${refusalError(other).code})`)

await send('order-2', {}, ({ attempt }) => {
  throw new Error(`queue manager is down, attempt ${attempt}`)
}).catch((error) => console.log(`failed: ${error.message}`))
const retried = await send('order-2', {}, ({ attempt }) => `attempt ${attempt} went through`)
console.log(`retried: ${retried.value}`)

// Two at the same time: the second one waits for the answer of the first.
const slow = () => new Promise((resolve) => setTimeout(() => resolve(++sent), 50))
const both = await Promise.all(
  [1, 2].map(() => idempotency.run({ operation: 'PRODUCE', key: 'order-3', waitMs: 5000 }, slow)),
)
console.log(
  `at once: ${both.map(({ outcome }) => outcome).sort()}, the same answer: ${both[0].value === both[1].value}`,
)

const { pk, status, attempt } = await idempotency.get({ operation: 'PRODUCE', key: 'order-2' })
console.log(`record: ${pk} ${status} after ${attempt} attempts`)
await catraca.close()
