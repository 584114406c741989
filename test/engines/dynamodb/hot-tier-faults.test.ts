import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { customer } from '../../../src/conformance/support.js'
import { RedisHotSets } from '../../../src/engines/redis/hot-tier/index.js'
import type { Position } from '../../../src/guards/allowlist/changes/port.js'
import { HotChecks } from '../../../src/guards/allowlist/hot/hot-checks.js'
import { PositionedFeed } from '../../../src/guards/allowlist/hot/positioned-feed.js'
import { openHotScene } from '../../support/dynamodb-hot-tier.js'
import { startDynamo } from '../../support/dynamodb-server.js'
import { inTime } from '../../support/in-time.js'
import { startSingle, until } from '../../support/redis/index.js'

describe('the hot tier with faults', async () => {
  const redis = await startSingle()
  const [server] = redis.servers
  const scene = await openHotScene(await startDynamo('dynoxide'), redis)
  const { writer, raw, told, newList, pod: open, fresh } = scene
  const { members, checks, changes } = writer.allowlists
  const fillOf = (id: string) => raw('HGET', `{allowlist:${id}}:hot`, 'fill')
  const ownerOf = (id: string) => raw('HGET', `{allowlist:${id}}:hot`, 'owner')

  it('falls back while Redis is dead, and comes back with it', async () => {
    const id = await newList(customer(1))
    const pod = await open(id)
    await fresh(id)
    await server!.kill()
    for (let i = 0; i < 20; i++) assert.equal(await pod.check(customer(1)), 'MEMBER')
    await members.remove(id, customer(1), Date.now())
    await told()
    assert.equal(await pod.check(customer(1)), 'NOT_MEMBER')
    assert.ok(pod.reports.some((report) => /does not answer/.test(report)))
    await server!.restart()
    await fresh(id)
    assert.equal(await pod.check(customer(1)), 'NOT_MEMBER')
    await raw('SADD', `allowlist:${id}`, 'ghost')
    await until('it answers again', async () => (await pod.check('ghost')) === 'MEMBER')
  })

  it('falls back soon when Redis hangs, and goes on with it', async () => {
    const id = await newList(customer(1))
    const checkTimeoutMs = 3000
    const pod = await open(id, { checkTimeoutMs })
    await fresh(id)
    server!.pause()
    try {
      const checks = async () => {
        for (let i = 0; i < 5; i++) assert.equal(await pod.check(customer(1)), 'MEMBER')
      }
      // The first waits for Redis, the next do not.
      await inTime(checks(), 3 * checkTimeoutMs)
      await members.remove(id, customer(1), Date.now())
      await told()
      assert.equal(await pod.check(customer(1)), 'NOT_MEMBER')
    } finally {
      server!.resume()
    }
    await until('the set follows', async () => (await raw('SISMEMBER', `allowlist:${id}`, customer(1))) === 0)
    await raw('SADD', `allowlist:${id}`, 'ghost')
    await until('it answers again', async () => (await pod.check('ghost')) === 'MEMBER')
    assert.equal(await pod.check(customer(1)), 'NOT_MEMBER')
  })

  it('has one of two pods keep the set, and the other go on where that one stopped', async () => {
    const id = await newList(customer(1), customer(2))
    const one = await open(id)
    await fresh(id)
    const [owner, fill] = [await ownerOf(id), await fillOf(id)]
    const two = await open(id)
    await members.remove(id, customer(2), Date.now())
    await told()
    for (const pod of [one, two]) {
      await until('it is told', async () => (await pod.check(customer(2))) === 'NOT_MEMBER')
      assert.equal(await pod.check(customer(1)), 'MEMBER')
    }
    assert.equal(await ownerOf(id), owner)
    await one.catraca.close()
    await members.add(id, customer(3), {}, Date.now())
    await told()
    await until('the other keeps it', async () => ![owner, null].includes((await ownerOf(id)) as string))
    await until('it is told', async () => (await raw('SISMEMBER', `allowlist:${id}`, customer(3))) === 1)
    assert.equal(await two.check(customer(3)), 'MEMBER')
    assert.equal(await fillOf(id), fill)
  })

  it('is loaded anew behind a gap in the log', async () => {
    const id = await newList(customer(1))
    const pod = await open(id)
    await fresh(id)
    const fill = await fillOf(id)
    await raw('HSET', `{allowlist:${id}}:hot`, 'position', '5000.1')
    await until('it is loaded', async () => ![fill, null].includes((await fillOf(id)) as string))
    await fresh(id)
    assert.equal(await pod.check(customer(1)), 'MEMBER')
  })

  it('tells of a database that belongs to a store, and leaves it alone', async () => {
    const id = await newList(customer(1))
    await raw('HSET', `{allowlist:${id}}:meta`, 'name', 'of a store')
    await raw('SADD', `allowlist:${id}`, 'ghost')
    const pod = await open(id)
    await until('it is told', () => pod.reports.some((report) => /updating the hot set/.test(report)))
    assert.deepEqual([await pod.check(customer(1)), await pod.check('ghost')], ['MEMBER', 'NOT_MEMBER'])
    assert.equal(await raw('SCARD', `allowlist:${id}`), 1)
  })

  it('does not answer from before what this process has seen, nor from before its snapshot, nor for another state', async () => {
    const id = await newList(customer(1))
    const view = await checks.view('strong')
    const list = (await view.list(id))!
    const [here] = (await changes.position(list))!
    const at = (sequence: number): Position => [{ ...here!, sequence }]
    const sets = new RedisHotSets(redis.url)
    await until('it is connected', () => sets.isConnected)
    const keeping = (await sets.claim(id))!
    await keeping.startLoad()
    await keeping.load([{ customerId: 'ghost', is: 'member' }])
    await keeping.finishLoad({ state: writer.source.stateOf(list), position: at(5) })
    await keeping.confirm(performance.now())
    const known = { seen: at(5) as Position | undefined, snapshot: undefined as Position | undefined }
    const hot = new HotChecks({
      checks,
      sets,
      listIds: new Set([id]),
      stateOf: writer.source.stateOf,
      seen: () => known.seen,
      snapshotPosition: () => known.snapshot,
      report: assert.fail,
    })
    const ordinary = await hot.view(undefined)
    const isAnswered = async (by: typeof ordinary) => (await by.member(list, 'ghost')) !== undefined
    assert.deepEqual([await isAnswered(ordinary), await isAnswered(hot.direct)], [true, true])
    known.seen = at(6)
    assert.deepEqual([await isAnswered(ordinary), await isAnswered(hot.direct)], [false, false])
    known.snapshot = at(5)
    assert.deepEqual([await isAnswered(ordinary), await isAnswered(hot.direct)], [true, false])
    known.snapshot = at(6)
    assert.equal(await isAnswered(ordinary), false)
    known.snapshot = [{ sequence: 5, mark: here!.mark + 2 }]
    assert.equal(await isAnswered(ordinary), false)
    known.snapshot = at(5)
    assert.equal(await isAnswered(ordinary), true)
    // A replace that the list tells of already, and nobody has told the set.
    assert.equal(await ordinary.member({ ...list, generation: 1 }, 'ghost'), undefined)
    await sets.close()
  })

  it('knows how far this process has read the log of a hot list', async () => {
    const id = await newList()
    const list = (await (await checks.view('strong')).list(id))!
    const noted = new PositionedFeed(changes, new Set([id]))
    assert.equal(noted.seen(list.incarnation), undefined)
    const start = (await changes.position(list))!
    await members.add(id, customer(1), {}, Date.now())
    await told()
    await noted.read(list, start)
    const end = (await changes.position(list))!
    assert.deepEqual(noted.seen(list.incarnation), end)
    await noted.read(list, start)
    assert.deepEqual(noted.seen(list.incarnation), end)
    assert.equal(await noted.read(list, [{ sequence: 5000, mark: start[0]!.mark }]), 'gap')
    assert.deepEqual(noted.seen(list.incarnation), end)
  })
})
