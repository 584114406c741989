import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { createClient } from '../../src/client/index.js'
import { patientFetch } from '../../src/client/node.js'
import type { Catraca } from '../../src/index.js'
import { connectCatraca, type RemoteCatraca } from '../../src/remote/index.js'
import { createLogger } from '../../src/server/http/logger.js'
import { type RunningServer, startServer } from '../../src/server/index.js'
import { openPatiently } from '../support/patient.js'
import { until } from '../support/redis/process.js'

const OPERATION = 'PAY'

describe('the guards of a server', () => {
  let catraca: Catraca
  let server: RunningServer
  let remote: RemoteCatraca
  const sent: string[] = []
  before(async () => {
    catraca = await openPatiently({ store: 'memory:' })
    server = await startServer(catraca, { port: 0, logger: createLogger('silent'), inlineLimits: 'any' })
    const counted = (url: string, init: RequestInit) => {
      sent.push(new URL(url).pathname)
      return patientFetch(url, init)
    }
    remote = connectCatraca({ url: server.url, timeoutMs: 60_000, fetch: counted })
  })
  after(async () => {
    await server.stop()
    await catraca.close()
  })

  it('run a request once, replay it, and refuse another under its key', async () => {
    const { idempotency } = remote
    const request = { operation: OPERATION, key: 'k1', payload: { amount: 1 } }
    const work = ({ attempt }: { attempt: number }) => ({ paid: attempt })
    assert.deepEqual(await idempotency.run(request, work), {
      outcome: 'executed',
      value: { paid: 1 },
      attempt: 1,
    })
    assert.deepEqual(await idempotency.run(request, work), { outcome: 'replayed', value: { paid: 1 } })
    // The library hashes the payload alike.
    assert.deepEqual(await catraca.idempotency.run(request, work), {
      outcome: 'replayed',
      value: { paid: 1 },
    })
    const other = await idempotency.run({ ...request, payload: { amount: 2 } }, work)
    assert.deepEqual(other, { outcome: 'refused', reason: 'other-request' })
    const nothing = { operation: OPERATION, key: 'k2' }
    assert.equal((await idempotency.run(nothing, () => undefined)).outcome, 'executed')
    assert.deepEqual(await idempotency.run(nothing, () => undefined), {
      outcome: 'replayed',
      value: undefined,
    })
  })

  it('retry what failed, wait for what is at work, and renew it meanwhile', async () => {
    const { idempotency } = remote
    const request = { operation: OPERATION, key: 'k3', leaseMs: 1000 }
    const fails = () => Promise.reject(new Error('down'))
    await assert.rejects(idempotency.run(request, fails), /down/)
    let finish = () => {}
    const running = idempotency.run(
      request,
      () => new Promise<string>((resolve) => (finish = () => resolve('done'))),
    )
    await until('it is at work', async () => (await idempotency.get(request))?.status === 'IN_PROGRESS')
    const refused = await idempotency.run(request, fails)
    assert.deepEqual([refused.outcome, 'reason' in refused && refused.reason], ['refused', 'in-progress'])
    const waiting = idempotency.run({ ...request, waitMs: 60_000 }, fails)
    await until('it is renewed', () => sent.some((path) => path.endsWith('/k3/extend')))
    finish()
    assert.deepEqual(await running, { outcome: 'executed', value: 'done', attempt: 2 })
    assert.deepEqual(await waiting, { outcome: 'replayed', value: 'done' })
  })

  it('tell which limits there are, and take back what was taken', async () => {
    const { limits } = remote
    const request = {
      ...{ entity: 'ann', resource: 'jobs' },
      limits: {
        atOnce: { capacity: 1, refillPeriodSeconds: 3600, algorithm: 'concurrency' as const },
        total: { capacity: 9, refillPeriodSeconds: 90 },
      },
    }
    const answer = await limits.acquire(request)
    assert.ok(answer.allowed)
    assert.deepEqual(answer.policies, {
      atOnce: { isConcurrency: true },
      total: { windowSeconds: 90, isConcurrency: false },
    })
    const denied = await limits.acquire(request)
    assert.equal(denied.allowed, false)
    assert.deepEqual(Object.keys(denied.policies!), ['atOnce', 'total'])
    assert.deepEqual(await limits.adjust(answer.leaseId, { atOnce: -1 }), { applied: true })
    const again = await limits.acquire(request)
    assert.ok(again.allowed)
    await limits.giveBack(again.leaseId)
    assert.equal((await limits.status('ann', 'jobs', { limits: request.limits })).limits.atOnce!.remaining, 1)
    await limits.setEntity('ann', { parent: 'org' })
    assert.deepEqual((await limits.getEntity('ann'))?.parent, 'org')
    assert.deepEqual([await limits.deleteEntity('ann'), await limits.deleteEntity('ann')], [true, false])
  })

  it('hold locks while work runs', async () => {
    const fence = await remote.locks.withLock('job', { waitMs: 0 }, async (lock) => {
      assert.equal((await catraca.locks.status('job')).held, true)
      await assert.rejects(
        remote.locks.withLock('job', { waitMs: 0 }, () => {}),
        { code: 'LOCK_HELD' },
      )
      return lock.fence
    })
    assert.ok(fence > 0)
    assert.equal((await catraca.locks.status('job')).held, false)
  })

  it('are reached through a client too', async () => {
    const over = connectCatraca(createClient({ url: server.url }))
    await catraca.allowlists.create({ id: 'beta', name: 'Beta', type: 'FIXA' })
    await over.allowlists.add('beta', 'ann')
    assert.equal((await over.allowlists.check('ann', ['beta'])).overallAllowed, true)
    await assert.rejects(over.allowlists.get('none'), { code: 'ALLOWLIST_NOT_FOUND' })
  })
})

describe('a server that does not answer', () => {
  it('may have made a change, or work goes on without it where that is allowed', async (t) => {
    const server = createServer((request) => request.socket.destroy()).listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => server.close())
    const gone = connectCatraca({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
    await assert.rejects(gone.limits.adjust('lease', { rpm: 1 }), { code: 'UNKNOWN_OUTCOME' })
    await assert.rejects(gone.limits.acquire({ entity: 'a', resource: 'r' }), { code: 'ENGINE_UNAVAILABLE' })
    const nobody = connectCatraca({ url: 'http://127.0.0.1:1' })
    await assert.rejects(nobody.limits.adjust('lease', { rpm: 1 }), { code: 'ENGINE_UNAVAILABLE' })
    const request = { operation: OPERATION, key: 'k1' }
    await assert.rejects(
      nobody.idempotency.run(request, () => 1),
      { code: 'ENGINE_UNAVAILABLE' },
    )
    const degraded = await nobody.idempotency.run({ ...request, onUnavailable: 'allow' }, () => 1)
    assert.deepEqual(degraded, { outcome: 'executed', value: 1, attempt: 0, degraded: true })
  })

  it('does not take what only the library can do', async () => {
    const { idempotency } = connectCatraca({ url: 'http://127.0.0.1:1' })
    const request = { operation: OPERATION, key: 'k1' }
    await assert.rejects(idempotency.hold({ ...request, leaseMs: 500 }), /at least 1000 over a server/)
    await assert.rejects(idempotency.hold({ ...request, rawPayload: 'x' }), /give requestHash/)
  })
})
