import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { RedisHotSets } from '../../../src/engines/redis/hot-tier/index.js'
import type { HotContent, HotMember, HotSetWriter } from '../../../src/guards/allowlist/hot/port.js'
import { failure } from '../../support/failure.js'
import {
  commandCounts,
  type RedisServers,
  startCluster,
  startSingle,
  until,
} from '../../support/redis/index.js'

const CONTENT: HotContent = { state: 'here/1.0.0', position: [{ sequence: 7, mark: 1 }] }
const LIST = 'vip'
const member = (customerId: string): HotMember => ({ customerId, is: 'member' })

for (const [topology, start] of [
  ['one server', startSingle],
  ['a cluster', startCluster],
] as const) {
  describe(`hot sets on ${topology}`, () => {
    let servers: RedisServers
    let sets: RedisHotSets
    let other: RedisHotSets
    before(async () => {
      servers = await start()
      await servers.calm()
      sets = new RedisHotSets(servers.url)
      other = new RedisHotSets(servers.url)
      await until('both are connected', () => sets.isConnected && other.isConnected)
    })
    beforeEach(() => servers.flush())
    after(async () => {
      await Promise.all([sets.close(), other.close()])
      await servers.stop()
    })
    const claim = async (from = sets): Promise<HotSetWriter> =>
      (await from.claim(LIST)) ?? assert.fail('taken')
    const raw = async (...args: string[]): Promise<unknown> => {
      const asked = await Promise.allSettled((await servers.primaries()).map((server) => server.say(...args)))
      const answers = asked.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
      return answers.length === 1 ? answers[0] : answers
    }
    const found = async (customerId: string) => (await sets.find(LIST, customerId))?.found
    const loaded = async (...members: HotMember[]): Promise<HotSetWriter> => {
      const keeping = await claim()
      assert.ok(await keeping.startLoad())
      assert.ok(await keeping.load(members))
      assert.ok(await keeping.finishLoad(CONTENT))
      assert.ok(await keeping.confirm(performance.now()))
      return keeping
    }

    it('find members, and tell what the set holds', async () => {
      await loaded(member('a'), { customerId: 'b', is: 'expiring' })
      assert.deepEqual(await sets.find(LIST, 'a'), { ...CONTENT, found: 'member' })
      assert.deepEqual(await Promise.all(['a', 'b', 'c'].map(found)), ['member', 'unsure', 'absent'])
      // As the source has it, for whoever reads it there; who expires is not shown as a member.
      assert.deepEqual(
        [await raw('SISMEMBER', 'allowlist:vip', 'a'), await raw('SISMEMBER', 'allowlist:vip', 'b')],
        [1, 0],
      )
    })

    it('know nothing before they are whole and confirmed', async () => {
      const keeping = await claim()
      await keeping.startLoad()
      await keeping.load([member('a')])
      assert.equal(await found('a'), undefined)
      await keeping.finishLoad(CONTENT)
      assert.equal(await found('a'), undefined)
      await keeping.confirm(performance.now() - 60_000)
      assert.equal(await found('a'), undefined)
      await keeping.confirm(Number.NEGATIVE_INFINITY)
      assert.equal(await found('a'), undefined)
      await keeping.confirm(performance.now())
      assert.equal(await found('a'), 'member')
    })

    it('know nothing once the set, or what confirms it, is gone', async () => {
      await loaded(member('a'))
      assert.equal(await found('a'), 'member')
      await raw('DEL', 'allowlist:vip')
      assert.equal(await found('a'), undefined)
      await raw('SADD', 'allowlist:vip', 'b')
      assert.equal(await found('a'), undefined)
      assert.equal((await claim()).content, undefined)
      await loaded(member('a'))
      assert.equal(await found('a'), 'member')
      await raw('DEL', '{allowlist:vip}:hot:fresh')
      assert.equal(await found('a'), undefined)
      assert.deepEqual((await claim()).content, CONTENT)
    })

    it('end a load whose set was evicted, instead of showing a part of it', async () => {
      const keeping = await claim()
      await keeping.startLoad()
      await keeping.load([member('a')])
      await raw('DEL', '{allowlist:vip}:hot:next')
      assert.equal(await keeping.load([member('b')]), false)
      assert.equal(await keeping.finishLoad(CONTENT), false)
      assert.equal(await raw('EXISTS', 'allowlist:vip'), 0)
    })

    it('are told of changes, and how far they reach then', async () => {
      const keeping = await loaded(member('a'), member('b'), { customerId: 'c', is: 'expiring' })
      const position = [{ sequence: 9, mark: 1 }]
      const changes: HotMember[] = [
        { customerId: 'a', is: 'absent' },
        { customerId: 'b', is: 'expiring' },
        { customerId: 'c', is: 'member' },
        { customerId: 'd', is: 'member' },
      ]
      assert.ok(await keeping.apply(changes, position))
      assert.deepEqual(await Promise.all(['a', 'b', 'c', 'd'].map(found)), [
        'absent',
        'unsure',
        'member',
        'member',
      ])
      assert.deepEqual((await sets.find(LIST, 'd'))?.position, position)
      assert.deepEqual((await claim()).content?.position, position)
    })

    it('have one keeper, and take nothing from one that was before', async () => {
      const keeping = await loaded(member('a'))
      assert.equal(await other.claim(LIST), undefined)
      await keeping.release()
      const next = await claim(other)
      assert.equal(await sets.claim(LIST), undefined)
      assert.equal(await keeping.apply([member('ghost')]), false)
      assert.equal(await keeping.confirm(performance.now()), false)
      assert.ok(await next.apply([{ customerId: 'a', is: 'absent' }], CONTENT.position))
      assert.deepEqual([await found('ghost'), await found('a')], ['absent', 'absent'])
    })

    it('take over from a keeper that is silent', async () => {
      const brief = new RedisHotSets(servers.url, { leaseMs: 1 })
      await until('it is connected', () => brief.isConnected)
      await claim(brief)
      await until('its lease is over', async () => (await other.claim(LIST)) !== undefined)
      await brief.close()
    })

    it('leave a call that was overtaken without effect', async () => {
      const late = await loaded(member('a'))
      const again = await claim()
      assert.equal(await late.apply([member('ghost')], [{ sequence: 8, mark: 1 }]), false)
      assert.ok(await again.apply([], [{ sequence: 8, mark: 1 }]))
      assert.equal(await found('ghost'), 'absent')
    })

    it('do not touch a list that lives in the same database', async () => {
      await raw('HSET', '{allowlist:vip}:meta', 'name', 'VIP')
      await failure(sets.claim(LIST), 'CONFIG_INVALID')
    })

    it('are gone with their list', async () => {
      const keeping = await loaded(member('a'))
      assert.ok(await keeping.drop())
      assert.equal(await found('a'), undefined)
      assert.equal(await raw('EXISTS', 'allowlist:vip'), 0)
    })

    if (topology !== 'one server') return

    it('are not confirmed by what arrives late', async () => {
      const strict = new RedisHotSets(servers.url, { staleAfterMs: 300 })
      await until('it is connected', () => strict.isConnected)
      const [server] = servers.servers
      const keeping = await claim(strict)
      await keeping.startLoad()
      await keeping.finishLoad(CONTENT)
      server!.pause()
      const confirmed = keeping.confirm(performance.now())
      const pausedMs = performance.now()
      await until('the moment is over', () => performance.now() - pausedMs > 350)
      server!.resume()
      assert.equal(await confirmed, true)
      assert.equal(await raw('EXISTS', '{allowlist:vip}:hot:fresh'), 0)
      await keeping.confirm(performance.now())
      assert.equal(await raw('EXISTS', '{allowlist:vip}:hot:fresh'), 1)
      await strict.close()
    })

    it('answer the customers of one turn with one question', async () => {
      await loaded(...Array.from({ length: 100 }, (_, i) => member(`c${i}`)))
      await found('c0')
      const [server] = servers.servers
      await server!.say('CONFIG', 'RESETSTAT')
      const answers = await Promise.all(Array.from({ length: 200 }, (_, i) => found(`c${i}`)))
      assert.equal(answers.filter((answer) => answer === 'member').length, 100)
      const counts = await commandCounts(server!)
      assert.deepEqual(
        [counts.get('get'), counts.get('smismember'), counts.get('evalsha')],
        [1, 1, undefined],
      )
    })
  })
}

describe('hot sets without a server', () => {
  it('find nothing, say so once, and go on when it comes', async () => {
    const servers = await startSingle()
    const [server] = servers.servers
    await server!.kill()
    const reports: string[] = []
    const sets = new RedisHotSets(servers.url, {
      redis: { connectTimeoutMs: 50 },
      report: (message) => void reports.push(message),
    })
    try {
      await until('it is told', () => reports.length > 0)
      assert.equal(await sets.find(LIST, 'a'), undefined)
      assert.equal(await sets.claim(LIST), undefined)
      await server!.restart()
      await until('it is connected', () => sets.isConnected)
      assert.notEqual(await sets.claim(LIST), undefined)
      assert.ok(reports.every((message) => /cannot be reached/.test(message)))
    } finally {
      await sets.close()
      await servers.stop()
    }
  })
})
