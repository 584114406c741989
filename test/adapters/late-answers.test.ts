import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import express, { type Express, type Response as ExpressResponse } from 'express'
import * as guards from '../../src/adapters/express.js'
import { openPatiently } from '../support/patient.js'
import { until } from '../support/until.js'

const limits = { perHour: { capacity: 5, refillPeriodSeconds: 3600 } }

async function openStore(t: TestContext) {
  const catraca = await openPatiently({ store: 'memory:' })
  t.after(() => catraca.close())
  return catraca
}

async function listen(t: TestContext, prepare: (app: Express) => void) {
  const app = express()
  // Failures of a test are answers, not lines in its output.
  app.set('env', 'test')
  app.use(express.json())
  prepare(app)
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return () =>
    fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': 'late' },
      body: '{}',
    })
}

/** Answers each request as soon as its guard is asked, as the time limit of a service does. */
function impatient() {
  let current: ExpressResponse | undefined
  return {
    middleware: (app: Express) =>
      app.use((_, response, next) => {
        current = response
        next()
      }),
    answer: () => current?.status(503).end('late'),
  }
}

describe('a service on Express that has answered while a guard decided', () => {
  it('executes nothing, and goes on living', async (t) => {
    const catraca = await openStore(t)
    const { middleware, answer } = impatient()
    let executed = 0
    let decided = 0
    const slots = {
      atOnce: { capacity: 1, refillPeriodSeconds: 3600, algorithm: 'concurrency' as const },
    }
    const slow = {
      async acquire(request: Parameters<typeof catraca.limits.acquire>[0]) {
        answer()
        const admitted = await catraca.limits.acquire(request)
        decided++
        return admitted
      },
      adjust: catraca.limits.adjust.bind(catraca.limits),
    }
    const ask = await listen(t, (app) => {
      middleware(app)
      app.use(guards.rateLimit({ catraca: { limits: slow }, limits: slots, entity: () => 'ann' }))
      app.use(() => void executed++)
    })
    for (let i = 1; i <= 2; i++) {
      assert.equal((await ask()).status, 503)
      await until('the guard has decided', () => decided === i)
      // A slot that was taken for nothing is free again.
      await until('the slot is free', async () => {
        const status = await catraca.limits.status('ann', 'http', { limits: slots })
        return status.limits.atOnce!.remaining === 1
      })
    }
    assert.equal(executed, 0)
  })

  it('lets a later request with the same key execute', async (t) => {
    const catraca = await openStore(t)
    const { middleware, answer } = impatient()
    let isImpatient = true
    const seen: string[] = []
    const slow = {
      async hold(request: Parameters<typeof catraca.idempotency.hold>[0]) {
        if (isImpatient) answer()
        const result = await catraca.idempotency.hold(request)
        seen.push(result.outcome)
        return result
      },
    }
    let executed = 0
    const ask = await listen(t, (app) => {
      middleware(app)
      app.use(guards.idempotency({ catraca: { idempotency: slow }, operation: 'LATE' }))
      app.use((_, response) => {
        response.status(201).end(String(++executed))
      })
    })
    assert.equal((await ask()).status, 503)
    await until('the claim was held', () => seen.length === 1)
    isImpatient = false
    await until('it was released', async () => (await ask()).status === 201)
    isImpatient = true
    assert.equal((await ask()).status, 503)
    await until('it was to be replayed', () => seen.at(-1) === 'replayed')
    isImpatient = false
    assert.equal(await (await ask()).text(), '1')
  })
})

describe('a mistake of a service on Express', () => {
  it('in the headers of a denial is an error of its request alone', async (t) => {
    const catraca = await openStore(t)
    await catraca.allowlists.create({ id: 'beta', name: 'Beta', type: 'FIXA' })
    const ask = await listen(t, (app) => {
      const denial = () => ({ headers: { 'x-who': 'a\nb' } })
      app.use(guards.allow({ catraca, lists: ['beta'], customer: () => 'ann', denial }))
    })
    assert.equal((await ask()).status, 500)
  })

  it('in countIf is reported, and the request counts', async (t) => {
    const catraca = await openStore(t)
    const reports: string[] = []
    const ask = await listen(t, (app) => {
      const countIf = () => assert.fail('mine')
      const report = (message: string) => void reports.push(message)
      app.use(guards.rateLimit({ catraca, limits, entity: () => 'ann', countIf, report }))
      app.use((_, response) => void response.end('ok'))
    })
    assert.equal((await ask()).status, 200)
    await until('it is reported', () => reports.length === 1)
    assert.match(reports[0]!, /countIf failed: mine/)
    const { limits: of } = await catraca.limits.status('ann', 'http', { limits })
    assert.equal(of.perHour!.remaining, 4)
  })

  it('in onAdmitted gives the slot back', async (t) => {
    const catraca = await openStore(t)
    const slots = {
      atOnce: { capacity: 1, refillPeriodSeconds: 3600, algorithm: 'concurrency' as const },
    }
    const ask = await listen(t, (app) => {
      const onAdmitted = () => assert.fail('mine')
      app.use(guards.rateLimit({ catraca, limits: slots, entity: () => 'ann', onAdmitted }))
    })
    assert.equal((await ask()).status, 500)
    await until('the slot is free', async () => {
      const { limits: of } = await catraca.limits.status('ann', 'http', { limits: slots })
      return of.atOnce!.remaining === 1
    })
  })

  it('in status or reason is told to the handler, as without idempotency', async (t) => {
    const catraca = await openStore(t)
    let break_: (response: ExpressResponse) => void = () => {}
    const ask = await listen(t, (app) => {
      app.use(guards.idempotency({ catraca, operation: 'HEAD' }))
      app.use((_, response) => {
        break_(response)
        response.end('ok')
      })
    })
    for (const wrong of [{ statusCode: 9999 }, { statusMessage: 'a\nb' }]) {
      break_ = (response) => Object.assign(response, wrong)
      assert.equal((await ask()).status, 500)
    }
  })
})

describe('an answer held back on Express', () => {
  it('passes two guards, one of them behind middleware that has methods of its own on the response', async (t) => {
    const catraca = await openStore(t)
    let executed = 0
    const ended: string[] = []
    const listening = (name: string) => (app: Express) =>
      app.use((_, response, next) => {
        const { end } = response
        response.end = ((...args: Parameters<typeof end>) => {
          ended.push(name)
          return end.apply(response, args)
        }) as typeof end
        next()
      })
    const once = (app: Express, operation: string) => app.use(guards.idempotency({ catraca, operation }))
    const ask = await listen(t, (app) => {
      once(app, 'OUTER')
      listening('between')(app)
      once(app, 'INNER')
      listening('behind')(app)
      app.use((_, response) => {
        response.setHeader('content-type', 'text/plain')
        response.write(String(++executed))
        response.end('!')
      })
    })
    const first = await ask()
    assert.deepEqual([await first.text(), first.headers.get('content-type')], ['1!', 'text/plain'])
    assert.deepEqual(ended, ['behind', 'between'])
    const again = await ask()
    assert.deepEqual([await again.text(), again.headers.get('idempotency-replayed')], ['1!', 'true'])
  })
})
