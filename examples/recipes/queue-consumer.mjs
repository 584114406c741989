// A consumer of a queue (SQS, RabbitMQ, IBM MQ) that delivers at least once: each message takes effect once, failures are
// tried again and end in the dead letters, and the provider behind it gets no more calls than it takes.
//
// Claim first, then ask the limit: a message that was handled before costs nothing. `notExecuted` gives the claim back,
// because a message that had to wait for the limit was not tried.
import { idempotentConsumer, manualClock, notExecuted, openCatraca, quotaExceeded } from 'catraca'

// Programs leave the clock out. Here it is moved by hand, so that nobody has to wait.
const clock = manualClock('2030-01-01')
const catraca = await openCatraca({ store: 'memory:', clock })
const sent = []

const consume = idempotentConsumer({
  idempotency: catraca.idempotency,
  key: (message) => message.id,
  payload: (message) => message.body,
  maxAttempts: 2,
  async handle({ body }) {
    const answer = await catraca.limits.acquire({
      entity: 'sms-provider',
      resource: 'send',
      limits: { perMinute: { capacity: 2, refillPeriodSeconds: 60, algorithm: 'fixed-window' } },
    })
    if (!answer.allowed) throw notExecuted(quotaExceeded(answer))
    if (body.to === 'nobody') throw new Error('no such number')
    sent.push(body.to)
    return sent.length
  },
})

async function deliver(id, to) {
  const { action, replayed, why, error } = await consume({ id, body: { to } })
  console.log(`${id}: ${action}${replayed ? ', done before' : ''}${why ? ` (${error?.code ?? why})` : ''}`)
}

await deliver('m-1', 'ann')
await deliver('m-1', 'ann')
await deliver('m-2', 'nobody')
// The provider takes two calls a minute.
await deliver('m-3', 'bob')
clock.advance(60_000)
await deliver('m-3', 'bob')
await deliver('m-2', 'nobody')
await deliver('m-1', 'eve')
console.log(`sent to: ${sent.join(', ')}`)
await catraca.close()
