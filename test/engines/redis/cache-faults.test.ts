import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { systemClock } from '../../../src/core/clock.js'
import { openRedis, type RedisEngine } from '../../../src/engines/redis/index.js'
import { Caches } from '../../../src/guards/cache/index.js'
import type { CacheSpace } from '../../../src/guards/cache/space.js'
import { PATIENT_REDIS } from '../../support/patient.js'
import { inTime, type RedisServers, startCut, startSingle, until } from '../../support/redis/index.js'

const TIMEOUT_MS = 200
/** The second tier may be asked twice, and the machine may be busy with other tests. */
const LONGEST_MS = 2 * TIMEOUT_MS + 1500
const KEYS = 20

describe('caches while redis is away', () => {
  let servers: RedisServers
  let engine: RedisEngine
  let caches: Caches
  let space: CacheSpace<string>
  let sourceIsUp = true
  const load = async (key: string) => {
    if (!sourceIsUp) throw new Error('the source is away')
    return `value of ${key}`
  }

  // Each test has its own: after a server was away, the first tier is emptied a little later.
  beforeEach(async () => {
    servers = await startSingle()
    engine = await openRedis(servers.url, PATIENT_REDIS)
    caches = new Caches({ store: engine.cache, clock: systemClock, report: () => {} })
    space = caches.space<string>({
      ...{ name: 'dict:entry:key', ttlMs: 50, staleMs: 600_000, timeoutMs: TIMEOUT_MS },
      ...{ softLoadTimeoutMs: 50, hardLoadTimeoutMs: 1000 },
    })
  })
  afterEach(async () => {
    caches.close()
    await engine.close()
    await servers.stop()
  })

  /** Asks all the time; every error is one too many, and so is an answer that comes late. */
  function callers() {
    const seen = { answers: 0, errors: [] as unknown[] }
    let isEnding = false
    const loop = async (i: number) => {
      for (let n = i; !isEnding; n++) {
        try {
          const key = `k${n % KEYS}`
          const answer = await inTime(space.getOrLoad(key, load), LONGEST_MS)
          assert.equal(answer, `value of ${key}`)
          seen.answers++
        } catch (error) {
          seen.errors.push(error)
        }
        await pause(2)
      }
    }
    const loops = Promise.all(Array.from({ length: 8 }, (_, i) => loop(i)))
    return {
      seen,
      async end() {
        isEnding = true
        await loops
        return seen
      },
    }
  }

  for (const [name, stop, start] of [
    ['killed', () => servers.servers[0]!.kill(), () => servers.servers[0]!.restart()],
    ['silent', async () => servers.servers[0]!.pause(), async () => servers.servers[0]!.resume()],
  ] as const) {
    it(`serves last values and the source while the server is ${name}, and comes back`, async () => {
      sourceIsUp = true
      for (let i = 0; i < KEYS; i++) await space.getOrLoad(`k${i}`, load)
      const { seen, end } = callers()
      await until('some answers', async () => seen.answers > 50)
      await stop()
      await pause(300)
      sourceIsUp = false
      const before = seen.answers
      await until('answers without both', async () => seen.answers > before + 100)
      await pause(500)
      assert.equal(space.stats().secondTier.status, 'down')
      // A server that comes back empty, before the source does, leaves nothing to answer with.
      sourceIsUp = true
      await until('the source is back', async () => space.stats().source === 'up')
      await start()
      await until('the second tier is back', async () => space.stats().secondTier.status === 'up')
      const { errors } = await end()
      assert.deepEqual(errors, [])
    })
  }

  it('asks the source when nothing comes through any more, and gives what it kept only when that fails', async (t) => {
    const cut = await startCut(servers.servers[0]!.port)
    const behind = await openRedis({ ...servers.url, nodes: [{ host: '127.0.0.1', port: cut.port }] })
    t.after(async () => {
      await cut.close()
      await behind.close()
    })
    const pod = new Caches({ store: behind.cache, clock: systemClock, report: () => {} })
    const kept = pod.space<string>({ name: 'dict:entry:id', ttlMs: 600_000, timeoutMs: TIMEOUT_MS })
    const others = caches.space<string>({ name: 'dict:entry:id', ttlMs: 600_000 })
    let source = 'old'
    const read = async () => source
    assert.equal(await kept.getOrLoad('k', read), 'old')
    cut.hush()
    source = 'new'
    await others.delete('k')
    await until('the source is asked', async () => (await kept.getOrLoad('k', read)) === 'new')
    source = 'newer'
    assert.equal(await kept.getOrLoad('k', read), 'newer')
    const answer = await kept.lookOrLoad('k', async () => assert.fail('the source is away'))
    assert.deepEqual([answer.value, answer.stale, answer.degraded], ['newer', true, true])
    pod.close()
  })
})
