import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Catraca, openCatraca } from '../../../src/app/open-catraca.js'
import { customers } from '../../../src/conformance/support.js'
import { openPatiently } from '../../support/patient.js'
import {
  commandCounts,
  RedisProcess,
  type RedisServers,
  startCluster,
  startSingle,
  until,
} from '../../support/redis/index.js'

const MEMBERS = customers(0, 400)

/** Every check of a member is confirmed. */
const open = (store: string, confirmFrom: 'primary' | 'replica' = 'replica'): Promise<Catraca> =>
  openPatiently({
    store,
    redis: { confirmFrom },
    sweepIntervalMs: 0,
    membership: { verificationEntries: 0 },
  })

async function* lines(): AsyncGenerator<Uint8Array> {
  yield Buffer.from(MEMBERS.join('\n'))
}

async function loaded({ allowlists }: Catraca, id: string): Promise<void> {
  await allowlists.rebuild(id)
  await until('the index is loaded', async () => {
    await allowlists.check(MEMBERS[0]!, [id])
    const { state, overlaySize } = await allowlists.index(id)
    return state === 'loaded' && overlaySize === 0
  })
}

async function confirmations(
  catraca: Catraca,
): Promise<{ replicas: number; answered: number; passedOn: number }> {
  const { engines } = (await catraca.health()) as unknown as {
    engines: { confirmations: { replicas: number; answered: number; passedOn: number } }[]
  }
  return engines[0]!.confirmations
}

/** `atLeast`: the token of a write that the answers must contain. Without it, messages of the write may come later. */
async function allowed({ allowlists }: Catraca, ids: readonly string[], atLeast?: string): Promise<string[]> {
  const fresh = atLeast === undefined ? {} : { atLeast }
  const answers = await Promise.all(ids.map((id) => allowlists.check(id, ['vip'], fresh)))
  return answers.filter(({ overallAllowed }) => overallAllowed).map(({ customerId }) => customerId)
}

describe('confirmations by a replica', () => {
  let servers: RedisServers
  let replica: RedisProcess
  let catraca: Catraca
  before(async () => {
    servers = await startSingle()
    const [primary] = servers.servers
    replica = await RedisProcess.start({ settings: [['replicaof', '127.0.0.1', String(primary!.port)]] })
    catraca = await open(servers.storeUrl)
    await catraca.allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
    await catraca.allowlists.import('vip', lines(), { format: 'text' })
    await loaded(catraca, 'vip')
    await until('the replica is known', async () => (await confirmations(catraca)).replicas === 1)
  })
  after(async () => {
    await catraca.close()
    await servers.stop()
    await replica.stop()
  })

  it('ask the replica, and the primary only for strong checks', async () => {
    const [primary] = servers.servers
    await until(
      'the replica has the import',
      async () => Number(await replica.say('SCARD', 'allowlist:vip')) === 400,
    )
    for (const server of [primary!, replica]) await server.say('CONFIG', 'RESETSTAT')
    assert.deepEqual(await allowed(catraca, MEMBERS), [...MEMBERS])
    const calls = async (server: RedisProcess) => (await commandCounts(server)).get('smismember') ?? 0
    assert.equal(await calls(primary!), 0)
    const asked = await calls(replica)
    assert.ok(asked > 0)
    await catraca.allowlists.check(MEMBERS[0]!, ['vip'], { consistency: 'strong' })
    assert.equal(await calls(primary!), 1)
    assert.equal(await calls(replica), asked)
  })

  it('are not asked with the default', async (t) => {
    const other = await open(servers.storeUrl, 'primary')
    t.after(() => other.close())
    await loaded(other, 'vip')
    await replica.say('CONFIG', 'RESETSTAT')
    assert.equal((await allowed(other, MEMBERS)).length, MEMBERS.length)
    assert.equal((await commandCounts(replica)).get('smismember') ?? 0, 0)
  })

  it('never tell what is older than memory, also by a replica that stands still', async () => {
    // It keeps its connections and all its data, and gets no change any more.
    await replica.say('REPLICAOF', 'NO', 'ONE')
    const { allowlists } = catraca
    const [gone, stay] = [MEMBERS.slice(0, 100), MEMBERS.slice(100)]
    const added = customers(2000, 2100)
    for (const id of gone) await allowlists.remove('vip', id)
    let last = ''
    for (const id of added) last = (await allowlists.add('vip', id)).token
    const [all, right] = [
      [...MEMBERS, ...added],
      [...stay, ...added],
    ]
    assert.deepEqual(await allowed(catraca, all, last), right)
    // The image is now of a later position than the replica has reached: nobody is in the overlay any more.
    await loaded(catraca, 'vip')
    assert.deepEqual(await allowed(catraca, all), right)
    await until('the primary names it no more', async () => (await confirmations(catraca)).replicas === 0)
    assert.deepEqual(await allowed(catraca, all), right)
  })

  it('go on by the primary when the replica is gone, and by the replica when it is back', async () => {
    const [primary] = servers.servers
    await replica.say('REPLICAOF', '127.0.0.1', String(primary!.port))
    await until('the replica is back', async () => (await confirmations(catraca)).replicas === 1)
    const { answered } = await confirmations(catraca)
    await until('it answers', async () => {
      await allowed(catraca, MEMBERS.slice(100))
      return (await confirmations(catraca)).answered > answered
    })
    await replica.kill()
    assert.equal((await allowed(catraca, MEMBERS)).length, 300)
  })

  it('race: two processes change members while replicas confirm, and each sees what it has done', async (t) => {
    const other = await open(servers.storeUrl)
    t.after(() => other.close())
    await replica.restart()
    await loaded(other, 'vip')
    await until('both know the replica', async () => {
      const known = await Promise.all([catraca, other].map(confirmations))
      return known.every(({ replicas }) => replicas === 1)
    })
    const member = MEMBERS[200]!
    const ids = customers(1000, 1040)
    await Promise.all(
      [catraca, other].map(async (mine, side) => {
        for (const [i, id] of ids.entries()) {
          if (i % 2 !== side) continue
          const added = await mine.allowlists.add('vip', id)
          assert.deepEqual(await allowed(mine, [id, member], added.token), [id, member])
          const removed = await mine.allowlists.remove('vip', id)
          assert.deepEqual(await allowed(mine, [id, member], removed.token), [member])
        }
      }),
    )
  })
})

describe('confirmations by the replicas of a cluster', () => {
  it('ask the replica of the slot', async (t) => {
    const servers = await startCluster()
    const catraca = await open(servers.storeUrl)
    t.after(async () => {
      await catraca.close()
      await servers.stop()
    })
    await catraca.allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
    await catraca.allowlists.import('vip', lines(), { format: 'text' })
    await catraca.allowlists.reshard('vip', 3)
    await loaded(catraca, 'vip')
    await until('all replicas are known', async () => (await confirmations(catraca)).replicas === 3)
    await until('replicas answer', async () => {
      assert.deepEqual(await allowed(catraca, MEMBERS), [...MEMBERS])
      return (await confirmations(catraca)).answered > 0
    })
  })
})

describe('the option redis.confirmFrom', () => {
  it('refuses another word', async () => {
    const wrong = { store: 'redis://127.0.0.1:1/0', redis: { confirmFrom: 'both' as 'replica' } }
    await assert.rejects(openCatraca(wrong), /redis.confirmFrom must be primary or replica/)
  })
})
