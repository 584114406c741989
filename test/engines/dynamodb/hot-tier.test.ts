import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { addAll, customer, customers, replaceBy } from '../../../src/conformance/support.js'
import { ManualClock } from '../../../src/core/clock.js'
import { type HotPod, openHotScene } from '../../support/dynamodb-hot-tier.js'
import { startDynamo } from '../../support/dynamodb-server.js'
import { PATIENCE_MS } from '../../support/patient.js'
import { startSingle, until } from '../../support/redis/index.js'

/** In the set and in no table: whoever calls it a member was told so by Redis. */
const GHOST = 'ghost'

describe('the hot tier in front of DynamoDB', async () => {
  const redis = await startSingle()
  const server = await startDynamo('dynoxide')
  const scene = await openHotScene(server, redis, { checkTimeoutMs: PATIENCE_MS })
  const { writer, raw, told, newList, pod: open, fresh } = scene
  const { members } = writer.allowlists
  const setOf = (id: string) => `allowlist:${id}`
  const fillOf = (id: string) => raw('HGET', `{allowlist:${id}}:hot`, 'fill')
  const knows = (pod: HotPod, id: string, reason: string) =>
    until(`${id} is ${reason}`, async () => (await pod.check(id)) === reason)
  /** A set that answers, with the ghost in it. */
  const haunted = async (...ids: string[]) => {
    const id = await newList(...ids)
    const pod = await open(id)
    await fresh(id)
    await raw('SADD', setOf(id), GHOST)
    await knows(pod, GHOST, 'MEMBER')
    return { id, pod }
  }

  it('confirms by Redis alone, and asks the table for what must be strong', async () => {
    const { id, pod } = await haunted(customer(1))
    const before = pod.asked
    assert.equal(await pod.check(customer(1)), 'MEMBER')
    assert.equal(await pod.check(customer(2)), 'NOT_MEMBER')
    assert.equal(pod.asked, before)
    const { token } = (await members.add(id, customer(2), {}, Date.now())) as { token: string }
    assert.equal(await pod.check(customer(2), { atLeast: token }), 'MEMBER')
    assert.equal(await pod.check(customer(2), { consistency: 'strong' }), 'MEMBER')
    assert.equal(await pod.check(GHOST, { consistency: 'strong' }), 'NOT_MEMBER')
    assert.equal(await pod.check(GHOST, { atLeast: token }), 'NOT_MEMBER')
    assert.equal(pod.asked, before + 4)
    const { engines } = await pod.catraca.health()
    const { answered, connected } = engines[0]!.hotTier as { answered: number; connected: boolean }
    assert.deepEqual([connected, answered >= 2], [true, true])
  })

  it('never denies a member when set, marker or record are evicted, and loads the set again', async () => {
    const { id, pod } = await haunted(customer(1))
    const before = await fillOf(id)
    await raw('DEL', setOf(id))
    for (let i = 0; i < 20; i++) assert.equal(await pod.check(customer(1)), 'MEMBER')
    await until('it is loaded again', async () => (await fillOf(id)) !== before)
    await fresh(id)
    await raw('SADD', setOf(id), GHOST)
    await knows(pod, GHOST, 'MEMBER')
    await raw('DEL', `{allowlist:${id}}:hot:fresh`)
    assert.equal(await pod.check(customer(1)), 'MEMBER')
    await knows(pod, GHOST, 'MEMBER')
    await raw('DEL', `{allowlist:${id}}:hot`)
    assert.equal(await pod.check(customer(1)), 'MEMBER')
    await knows(pod, GHOST, 'NOT_MEMBER')
    await fresh(id)
    assert.equal(await pod.check(customer(1)), 'MEMBER')
  })

  it('asks the table about whose membership ends', async () => {
    const id = await newList(customer(1))
    const clock = new ManualClock(Date.now())
    const expiresAt = clock.now() + 3_600_000
    await members.add(id, 'loaded', { expiresAt }, clock.now())
    await told()
    const pod = await open(id, { clock })
    await fresh(id)
    await members.add(id, 'followed', { expiresAt }, clock.now())
    await members.add(id, customer(1), { expiresAt }, clock.now())
    await told()
    await knows(pod, 'followed', 'MEMBER')
    await until('all are', async () => (await raw('SISMEMBER', setOf(id), `#${customer(1)}`)) === 1)
    const all = ['loaded', 'followed', customer(1)]
    for (const one of all) assert.equal(await pod.check(one), 'MEMBER')
    clock.set(expiresAt)
    for (const one of all) assert.equal(await pod.check(one), 'MEMBER_EXPIRED')
    await members.add(id, 'loaded', {}, clock.now())
    await told()
    await until('it is a member for good', async () => (await raw('SISMEMBER', setOf(id), 'loaded')) === 1)
    assert.equal(await pod.check('loaded'), 'MEMBER')
  })

  it('is loaded anew by a replace, and mixes nothing of before into it', async () => {
    const { id, pod } = await haunted(...customers(0, 50))
    const before = await fillOf(id)
    await replaceBy(writer.allowlists, id, customers(40, 90))
    // The list is known for a moment; from then on nothing is answered by the set of before.
    await knows(pod, customer(0), 'NOT_MEMBER')
    assert.equal(await pod.check(customer(89)), 'MEMBER')
    assert.equal(await pod.check(GHOST), 'NOT_MEMBER')
    await told()
    await until('it is loaded', async () => ![null, before].includes((await fillOf(id)) as string))
    await fresh(id)
    assert.equal(await raw('SCARD', setOf(id)), 51)
    await raw('SADD', setOf(id), GHOST)
    await knows(pod, GHOST, 'MEMBER')
    for (const [one, reason] of [
      [customer(0), 'NOT_MEMBER'],
      [customer(45), 'MEMBER'],
      [customer(89), 'MEMBER'],
    ] as const) {
      assert.equal(await pod.check(one), reason)
    }
  })

  it('is loaded anew when its list has moved to other shards', async () => {
    const { id, pod } = await haunted(...customers(0, 30))
    const before = await fillOf(id)
    assert.equal((await writer.resharding.reshard(id, 10)).outcome, 'resharded')
    await told()
    await until('it is loaded', async () => {
      assert.equal(await pod.check(customer(7)), 'MEMBER')
      return ![null, before].includes((await fillOf(id)) as string)
    })
    await fresh(id)
    await members.remove(id, customer(7), Date.now())
    await told()
    await until('it is told', async () => (await raw('SISMEMBER', setOf(id), customer(7))) === 0)
    assert.equal(await raw('SCARD', setOf(id)), 29 + 1)
    await knows(pod, customer(7), 'NOT_MEMBER')
    assert.equal(await pod.check(customer(8)), 'MEMBER')
  })

  it('goes with its list, and is another one with the next list of the id', async () => {
    const { id, pod } = await haunted(customer(1))
    await writer.allowlists.lists.delete(id, Date.now())
    await knows(pod, GHOST, 'ALLOWLIST_NOT_FOUND')
    await until('the set is gone', async () => (await raw('EXISTS', setOf(id))) === 0)
    while ((await writer.allowlists.upkeep.sweep(Date.now() + 60_000)).more);
    const made = { id, name: id, type: 'FIXA', precision: 'exact', salt: '0'.repeat(32) } as const
    assert.equal((await writer.allowlists.lists.create(made, Date.now())).outcome, 'created')
    await members.add(id, customer(2), {}, Date.now())
    await told()
    await fresh(id)
    await knows(pod, customer(2), 'MEMBER')
    assert.equal(await pod.check(customer(1)), 'NOT_MEMBER')
  })

  it('does not answer when nobody knows how old the logs are', async () => {
    const id = await newList(customer(1))
    const pod = await open(id, { probeIntervalMs: 1000 })
    await until('it is loaded', async () => (await raw('EXISTS', setOf(id))) === 1)
    await raw('SADD', setOf(id), GHOST)
    assert.equal(await pod.check(customer(1)), 'MEMBER')
    assert.equal(await pod.check(GHOST), 'NOT_MEMBER')
    assert.equal(await raw('EXISTS', `{allowlist:${id}}:hot:fresh`), 0)
  })

  it('stands behind memory, which asks it only for what it does not know itself', async () => {
    const id = await newList(...customers(0, 20))
    const membership = { maxBytes: 1_000_000, verificationEntries: 0 }
    const builder = await open(id, { membership })
    await builder.catraca.allowlists.rebuild(id)
    await builder.catraca.close()
    const pod = await open(id, { membership })
    await pod.check(customer(0))
    await until('it is in memory', async () => (await pod.catraca.allowlists.index(id)).state === 'loaded')
    await fresh(id)
    const before = pod.asked
    const counts = { ...pod.catraca.stats().checks }
    await raw('SREM', setOf(id), customer(3))
    assert.equal(await pod.check(customer(4)), 'MEMBER')
    assert.equal(await pod.check(customer(3)), 'NOT_MEMBER')
    assert.equal(await pod.check(GHOST), 'NOT_MEMBER')
    const { confirmed, filtered } = pod.catraca.stats().checks
    assert.deepEqual([confirmed - counts.confirmed, filtered - counts.filtered], [2, 1])
    assert.equal(pod.asked, before)
  })

  it('follows changes without loading anew', async () => {
    const { id, pod } = await haunted(...customers(0, 5))
    const fill = await fillOf(id)
    await members.add(id, 'new', {}, Date.now())
    await members.remove(id, customer(0), Date.now())
    await addAll(writer.allowlists, id, customers(10, 1110))
    await told()
    await knows(pod, 'new', 'MEMBER')
    await knows(pod, customer(0), 'NOT_MEMBER')
    await knows(pod, customer(1109), 'MEMBER')
    // The ghost, four of the first five, the new one, those of the import, and the seal.
    await until('the set is exact', async () => (await raw('SCARD', setOf(id))) === 1 + 4 + 1 + 1100 + 1)
    assert.equal(await fillOf(id), fill)
    assert.equal(await pod.check(GHOST), 'MEMBER')
  })
})
