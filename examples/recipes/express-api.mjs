// An Express API: limits by client, a stricter limit on one route, and payments that happen once.
// npm install catraca express; node express-api.mjs
//
// Order matters. Limits come first, because they need no body and protect everything behind them. Idempotency comes behind
// the body parser, because the body identifies the request. Behind a load balancer add `app.set('trust proxy', 1)`:
// otherwise all its clients share one address, and one limit.
import { once } from 'node:events'
import { openCatraca } from 'catraca'
import { idempotency, rateLimit } from 'catraca/express'
import express from 'express'

// In production: the store that all processes share, such as redis://… . Or a server: `connectCatraca({ url, key })`.
const catraca = await openCatraca({ store: 'memory:' })

const app = express()
app.use(
  rateLimit({
    catraca,
    limits: { perMinute: { capacity: 100, refillPeriodSeconds: 60 } },
    skip: (request) => request.path === '/health',
  }),
)
app.get('/health', (_, response) => response.send('ok'))
app.get(
  '/search',
  rateLimit({
    catraca,
    resource: 'search',
    limits: { perHour: { capacity: 2, refillPeriodSeconds: 3600 } },
    denial: (_, { retryAfterMs }) => ({ body: { error: 'too many searches', retryAfterMs } }),
    consume: ({ query }) => ({ perHour: query.deep ? 2 : 1 }),
  }),
  (_, response) => response.json({ found: [] }),
)
let paid = 0
app.post('/payments', express.json(), idempotency({ catraca, operation: 'PAY' }), (request, response) => {
  paid += request.body.amount
  response.status(201).json({ paid })
})

const server = app.listen(0, '127.0.0.1')
await once(server, 'listening')
const call = (path, init) => fetch(`http://127.0.0.1:${server.address().port}${path}`, init)

const first = await call('/search')
console.log(`search: ${first.status}, ${first.headers.get('ratelimit-policy')}`)
const deep = await call('/search?deep=1')
console.log(`a deep one: ${deep.status} ${(await deep.json()).error}`)
const headers = { 'content-type': 'application/json', 'idempotency-key': 'order-1' }
for (const body of ['{"amount":10}', '{"amount":10}', '{"amount":99}']) {
  const answer = await call('/payments', { method: 'POST', headers, body })
  const { paid: total, code } = await answer.json()
  const replayed = answer.headers.get('idempotency-replayed') ? ', replayed' : ''
  console.log(`pay ${body}: ${answer.status} ${total ?? code}${replayed}`)
}
console.log(`health: ${(await call('/health')).headers.get('ratelimit') ?? 'not limited'}`)

server.close()
await catraca.close()
