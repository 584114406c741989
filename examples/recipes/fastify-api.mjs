// A Fastify API: limits by API key and route, before the body is read, and payments that happen once.
// npm install catraca fastify; node fastify-api.mjs
//
// `rateLimit` asks in `onRequest`. It holds for all routes of the scope in which it is registered, and of the scopes within.
// Behind a load balancer use `Fastify({ trustProxy: … })`, or `entity`, as here.
import { openCatraca } from 'catraca'
import { idempotency, rateLimit } from 'catraca/fastify'
import Fastify from 'fastify'

const catraca = await openCatraca({ store: 'memory:' })
// Configured limits can be changed while everything runs: `catraca config set …`, or the console.
for (const [resource, capacity] of [
  ['reports', 1],
  ['api', 100],
]) {
  const limits = { perMinute: { capacity, refillPeriodSeconds: 60 } }
  await catraca.limits.setConfig({ level: 'system', resource }, { limits })
}

const app = Fastify()
await app.register(
  rateLimit({
    catraca,
    entity: (request) => request.headers['x-api-key'] ?? 'anonymous',
    // A route may name its resource.
    resource: (request) => request.routeOptions.config.resource ?? 'api',
    headers: 'both',
  }),
)
app.get('/reports', { config: { resource: 'reports' } }, async () => ({ rows: 3 }))
await app.register(async (payments) => {
  await payments.register(
    idempotency({
      catraca,
      operation: 'PAY',
      caller: (request) => request.headers['x-api-key'] ?? 'anonymous',
    }),
  )
  payments.post('/payments', async (request, reply) => {
    reply.code(201)
    return { paid: request.body.amount, at: ++calls }
  })
})
let calls = 0

const asked = async (method, url, key, body) => {
  const headers = { 'x-api-key': key, ...(body && { 'idempotency-key': 'order-1' }) }
  const answer = await app.inject({ method, url, headers, ...(body && { body }) })
  return { answer, told: `${answer.statusCode} ${answer.json().code ?? answer.body}` }
}
for (const key of ['ann', 'ann', 'bob']) {
  const { answer, told } = await asked('GET', '/reports', key)
  console.log(`reports for ${key}: ${told}, ${answer.headers['x-ratelimit-remaining']} left`)
}
for (const key of ['ann', 'ann', 'bob']) {
  const { answer, told } = await asked('POST', '/payments', key, { amount: 10 })
  console.log(`payment of ${key}: ${told}${answer.headers['idempotency-replayed'] ? ', replayed' : ''}`)
}
await app.close()
await catraca.close()
