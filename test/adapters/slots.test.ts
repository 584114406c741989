import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import Fastify from 'fastify'
import { rateLimit as expressLimit } from '../../src/adapters/express.js'
import { rateLimit as fastifyLimit } from '../../src/adapters/fastify.js'
import { withRateLimit } from '../../src/adapters/fetch.js'
import type { Admitted, RateLimits } from '../../src/index.js'
import { openPatiently } from '../support/patient.js'
import { until } from '../support/redis/process.js'

/** Requests that are at work until they are told to end; at most one may be. */
class Work {
  readonly waiting: (() => void)[] = []
  readonly admitted: Admitted[] = []

  constructor(readonly limits: RateLimits) {}

  readonly options = {
    // Whoever has to look somebody up may.
    entity: async () => 'ann',
    resource: 'jobs',
    consume: () => ({ atOnce: 1, total: 1 }),
    onAdmitted: (_: unknown, admitted: Admitted) => void this.admitted.push(admitted),
  }

  readonly run = () => new Promise<void>((resolve) => this.waiting.push(resolve))

  readonly left = async () => {
    const { limits } = await this.limits.status('ann', 'jobs')
    return [limits.atOnce!.remaining, limits.total!.remaining]
  }
}

async function openWork(t: TestContext): Promise<Work> {
  const catraca = await openPatiently({ store: 'memory:' })
  t.after(() => catraca.close())
  const limits = {
    atOnce: { capacity: 1, refillPeriodSeconds: 3600, algorithm: 'concurrency' as const },
    total: { capacity: 100, refillPeriodSeconds: 86_400 },
  }
  await catraca.limits.setConfig({ level: 'system', resource: 'jobs' }, { limits })
  return new Work(catraca.limits)
}

type Ask = (signal?: AbortSignal) => Promise<Response>

const FRAMEWORKS: Record<string, (t: TestContext, work: Work) => Promise<Ask>> = {
  async fastify(t, { limits, options, run }) {
    const app = Fastify()
    await app.register(fastifyLimit({ limits, ...options }) as never)
    app.get('/', () => run())
    t.after(() => app.close())
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    return (signal) => fetch(url, signal && { signal })
  },

  async 'express and node:http'(t, { limits, options, run }) {
    const limit = expressLimit({ limits, ...options })
    const server = createServer((request, response) =>
      limit(request, response, async () => {
        await run()
        response.end()
      }),
    )
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => server.close())
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    return (signal) => fetch(url, signal && { signal })
  },

  async 'fetch-style handlers'(_, { limits, options, run }) {
    // The body of a stream is part of the work.
    const body = () =>
      new ReadableStream({
        async start(controller) {
          await run()
          controller.close()
        },
      })
    const handler = withRateLimit(() => new Response(body()), { limits, ...options })
    return async (signal) => {
      const response = await handler(new Request('http://service.example/'))
      signal?.addEventListener('abort', () => void response.body!.cancel())
      if (signal === undefined && response.ok) await response.text()
      return response
    }
  },
}

describe('a request holds its slot of a concurrency limit', () => {
  for (const [name, start] of Object.entries(FRAMEWORKS)) {
    it(`${name}: until it is answered`, async (t) => {
      const work = await openWork(t)
      const ask = await start(t, work)
      const first = ask()
      await until('it is at work', () => work.waiting.length === 1)
      assert.equal((await ask()).status, 429)
      work.waiting[0]!()
      assert.equal((await first).status, 200)
      await until('its slot is free', async () => (await work.left())[0] === 1)
      assert.deepEqual(await work.left(), [1, 99])
      assert.equal(work.admitted.length, 1)
    })

    it(`${name}: until its caller goes away`, async (t) => {
      const work = await openWork(t)
      const ask = await start(t, work)
      const abort = new AbortController()
      const gone = ask(abort.signal).catch(() => {})
      await until('it is at work', () => work.waiting.length === 1)
      assert.deepEqual(await work.left(), [0, 99])
      // The handler of a fetch has answered, though its body has not ended.
      if (name.startsWith('fetch')) await gone
      abort.abort()
      await until('its slot is free', async () => (await work.left())[0] === 1)
      work.waiting[0]!()
      await gone
    })
  }

  it('fetch-style handlers: until they throw', async (t) => {
    const { limits, options, left } = await openWork(t)
    const handler = withRateLimit(() => Promise.reject(new Error('broken')), { limits, ...options })
    await assert.rejects(Promise.resolve(handler(new Request('http://service.example/'))), /broken/)
    await until('its slot is free', async () => (await left())[0] === 1)
  })
})
