import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, createServer as createRawServer, type Server, type Socket } from 'node:net'
import { after, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { arrivals, seeded } from '../../../src/cli/load/arrivals.js'
import type { LoadPlan } from '../../../src/cli/load/generator.js'
import { measure } from '../../../src/cli/load/measure.js'
import { operation } from '../../../src/cli/load/mixes/mix.js'
import { type Origin, originOf } from '../../../src/cli/load/origin.js'
import type { LoadResult } from '../../../src/cli/load/result.js'
import { PATIENCE_MS } from '../../support/patient.js'
import { makeCertificates } from '../../support/redis/certificates.js'
import { freePort } from '../../support/redis/index.js'

const servers: { server: Server; sockets: Set<Socket> }[] = []
after(() => {
  for (const { server, sockets } of servers) {
    server.close()
    for (const socket of sockets) socket.destroy()
  }
})

async function listen(server: Server): Promise<Origin> {
  const sockets = new Set<Socket>()
  servers.push({ server, sockets })
  server.on('connection', (socket) => sockets.add(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return originOf(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, 'secret-key')
}

const http = (answer: RequestListener): Promise<Origin> => listen(createServer(answer))

const PLAN: LoadPlan = {
  ...{ rate: 500, durationMs: 1000, arrivals: 'constant', spin: false, random: seeded(1) },
  ...{ connections: 4, maxConnections: 4, timeoutMs: PATIENCE_MS },
}
const ask = operation('ask', 200)

function load(origin: Origin, plan: Partial<LoadPlan> = {}, warmUpMs = 0): Promise<LoadResult> {
  const next = () => ({ operation: ask, text: origin.get('/x') })
  return measure({ origin, plan: { ...PLAN, ...plan }, warmUpMs, mix: 'test', next })
}

describe('load generator', () => {
  it('does not count as answered in a second what was answered when nothing was due any more', async () => {
    const origin = await http((_, reply) => void setTimeout(() => reply.end('ok'), 20))
    const { due, answered, achievedRate } = await load(origin)
    assert.deepEqual([due, answered], [500, 500])
    // Four connections, each busy for at least 20 ms.
    assert.ok(achievedRate <= 210, `${achievedRate}/s`)
  })

  it('asks over TLS, and not a server whose certificate nobody confirms', async () => {
    const certificates = makeCertificates()
    try {
      const [cert, key] = [readFileSync(certificates.certificate), readFileSync(certificates.key)]
      const plain = await listen(createTlsServer({ cert, key }, (_, reply) => void reply.end('ok')))
      const origin = originOf(plain.url.replace('http:', 'https:'), undefined)
      const strangers = await load(origin, { rate: 20 })
      assert.deepEqual([strangers.answered, strangers.errors.refused], [0, 20])
      const script = new URL('./tls-load.js', import.meta.url)
      const env = { ...process.env, NODE_EXTRA_CA_CERTS: certificates.ca }
      const { stdout } = await promisify(execFile)(process.execPath, [fileURLToPath(script), origin.url], {
        env,
      })
      assert.deepEqual(JSON.parse(stdout), { answered: 100, errorCount: 0 })
    } finally {
      certificates.remove()
    }
  })

  it('counts a stall for every request due in it, where service time shows it for few', async () => {
    const STALL_MS = 300
    let begun: number | undefined
    const origin = await http((_, reply) => {
      begun ??= performance.now()
      const sinceMs = performance.now() - begun
      const isStalled = sinceMs > 600 && sinceMs < 600 + STALL_MS
      setTimeout(() => reply.end('ok'), isStalled ? 600 + STALL_MS - sinceMs : 0)
    })
    const { latencyMs, serviceMs, answered, errorCount } = await load(origin, { durationMs: 2000 })
    assert.deepEqual([answered, errorCount], [1000, 0])
    // 15 % of the requests were due while nothing was answered: a third of them for 200 ms and more.
    assert.ok(latencyMs.p99 > STALL_MS * 0.8, `p99 ${latencyMs.p99}`)
    assert.ok(latencyMs.p95 > STALL_MS * 0.5, `p95 ${latencyMs.p95}`)
    assert.ok(serviceMs.p95 < latencyMs.p95 / 2, `${serviceMs.p95} of service, ${latencyMs.p95} in all`)
    assert.ok(serviceMs.max > STALL_MS * 0.8, 'the few that were on their way did see it')
  })

  it('sends the key, and what was asked, on connections that stay open', async () => {
    const seen = new Set<string>()
    const connections = new Set<unknown>()
    const origin = await http((request, reply) => {
      seen.add(`${request.method} ${request.url} ${request.headers.authorization} ${request.headers.host}`)
      connections.add(request.socket)
      reply.end('ok')
    })
    const { due, answered, statuses, generator } = await load(origin, { durationMs: 400 })
    assert.deepEqual([due, answered, statuses], [200, 200, { 200: 200 }])
    assert.deepEqual([...seen], [`GET /x Bearer secret-key 127.0.0.1:${origin.port}`])
    assert.ok(connections.size <= 4 && generator.peakConnections <= 4)
  })

  it('opens more connections while all are busy, and no more than it may', async () => {
    const origin = await http((_, reply) => void setTimeout(() => reply.end('ok'), 100))
    const { generator, errorCount } = await load(origin, { maxConnections: 9, durationMs: 500 })
    assert.deepEqual([generator.peakConnections, errorCount], [9, 0])
    assert.match(generator.saturation.join(), /all 9 connections were busy/)
  })

  it('does not count what was due in the warm-up', async () => {
    let asked = 0
    const origin = await http((_, reply) => {
      asked++
      reply.statusCode = asked <= 50 ? 500 : 200
      reply.end('ok')
    })
    const { due, errors, statuses } = await load(origin, { durationMs: 200 }, 300)
    assert.deepEqual([asked, due, errors.status, statuses], [250, 100, 0, { 200: 100 }])
  })

  it('ends early when told, with what it has seen', async () => {
    const origin = await http((_, reply) => reply.end('ok'))
    const stop = new AbortController()
    const plan = { ...PLAN, durationMs: 60_000 }
    const next = () => ({ operation: ask, text: origin.get('/x') })
    setTimeout(() => stop.abort(), 300)
    const result = await measure({ origin, plan, warmUpMs: 0, mix: 'test', next, signal: stop.signal })
    assert.ok(result.endedEarly && result.seconds < 30 && result.answered > 0)
  })
})

describe('errors of a load test', () => {
  it('by status', async () => {
    let asked = 0
    const origin = await http((_, reply) => {
      reply.statusCode = asked++ % 2 === 0 ? 200 : 503
      reply.end('ok')
    })
    const { errors, errorCount, statuses, operations } = await load(origin, { durationMs: 200 })
    assert.deepEqual([errors.status, errorCount, statuses], [50, 50, { 200: 50, 503: 50 }])
    assert.equal(operations[0]!.errors, 50)
  })

  it('by time-out, which counts as time too', async () => {
    const origin = await http(() => {})
    const { errors, latencyMs, answered } = await load(origin, { durationMs: 100, timeoutMs: 200 })
    assert.deepEqual([errors.timeout, answered], [50, 0])
    assert.ok(latencyMs.p50 >= 199, `${latencyMs.p50}`)
  })

  it('by reset', async () => {
    const origin = await http((request) => request.socket.destroy())
    const { errors, answered } = await load(origin, { durationMs: 100 })
    assert.deepEqual([errors.reset, answered], [50, 0])
  })

  it('by refusal', async () => {
    const origin = originOf(`http://127.0.0.1:${await freePort()}`, undefined)
    const { errors, errorCount } = await load(origin, { durationMs: 100 })
    assert.deepEqual([errors.refused, errorCount], [50, 50])
  })

  it('by an answer that is none', async () => {
    const raw = createRawServer((socket) => socket.on('data', () => socket.write('SSH-2.0\r\n\r\n')))
    const { errors } = await load(await listen(raw), { durationMs: 100 })
    assert.equal(errors.protocol, 50)
  })

  it('by a server that says it closes: none', async () => {
    const origin = await http((_, reply) => reply.setHeader('connection', 'close').end('ok'))
    const { errorCount, answered } = await load(origin, { durationMs: 200 })
    assert.deepEqual([errorCount, answered], [0, 100])
  })
})

describe('arrivals', () => {
  it('are even, without drift', () => {
    const next = arrivals('constant', 3, () => 0)
    const times = Array.from({ length: 3001 }, next)
    assert.deepEqual([times[0], Math.round(times[3000]! * 1e6) / 1e6], [0, 1_000_000])
  })

  it('are at random with the same rate and its spread', () => {
    const next = arrivals('poisson', 1000, seeded(3))
    const times = Array.from({ length: 20_000 }, next)
    const gaps = times.slice(1).map((time, i) => time - times[i]!)
    const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length
    const longer = gaps.filter((gap) => gap > 1).length / gaps.length
    assert.ok(Math.abs(mean - 1) < 0.05, `mean gap ${mean} ms`)
    // e^-1 of all gaps are longer than the mean.
    assert.ok(Math.abs(longer - Math.exp(-1)) < 0.02, `${longer} longer than 1 ms`)
  })
})
