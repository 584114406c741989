import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { addAll, newFixa, sweepAll } from '../../../src/conformance/support.js'
import { ManualClock } from '../../../src/core/clock.js'
import { openRedis, type RedisEngine } from '../../../src/engines/redis/index.js'
import { PATIENT_REDIS } from '../../support/patient.js'
import { type RedisServers, startSingle } from '../../support/redis/index.js'
import {
  customers,
  type Death,
  dies,
  holdsExactly,
  importIds,
  isReversed,
  LEASE_MS,
  NOW,
} from '../../support/redis-bulk.js'

let servers: RedisServers
let engine: RedisEngine
before(async () => {
  servers = await startSingle()
})
after(() => servers.stop())

const ROWS = customers(0, 5000)
const later = () => new ManualClock(NOW + 2 * LEASE_MS)

async function fresh(shards: number, members: string[]): Promise<void> {
  await engine?.close()
  await servers.flush()
  engine = await openRedis(servers.url, { ...PATIENT_REDIS, initialShards: shards })
  await newFixa(engine.allowlists, 'a')
  await addAll(engine.allowlists, 'a', members)
}

const deathOf = (mode: 'add' | 'replace', death: Death) =>
  dies({
    url: servers.url,
    job: 'import',
    listId: 'a',
    importId: 'i',
    mode,
    ids: { from: 0, to: 5000 },
    death,
  })

for (const shards of [1, 3]) {
  describe(`kill -9 with ${shards} shard(s)`, () => {
    after(() => engine.close())

    // Every process that is started takes its time, so the two layouts share the places of death.
    const adding: Death[] =
      shards === 1
        ? [
            { script: 'allowlist-import-fence', nth: 1, when: 'after' },
            { script: 'allowlist-import-add', nth: 5, when: 'after' },
            { script: 'allowlist-import-checkpoint', nth: 2, when: 'before' },
          ]
        : [
            { script: 'allowlist-import-add', nth: 2, when: 'before' },
            { script: 'allowlist-import-add', nth: 5, when: 'after' },
            { script: 'allowlist-import-finish', nth: 1, when: 'before' },
          ]
    for (const death of adding) {
      it(`an import killed ${death.when} call ${death.nth} of ${death.script} goes on and counts each row once`, async () => {
        await fresh(shards, customers(0, 500))
        await deathOf('add', death)
        const { allowlists } = engine
        assert.equal((await allowlists.bulk.status('a', 'i', NOW + 2 * LEASE_MS))?.state, 'interrupted')
        const clock = later()
        const result = await importIds(allowlists, 'a', ROWS, { mode: 'add', importId: 'i', clock })
        assert.deepEqual(
          [result.added, result.unchanged, result.rejected, result.customerCount],
          [4500, 500, 0, 5000],
        )
        await holdsExactly(allowlists, 'a', ROWS)
        await sweepAll(allowlists, clock.now())
        await isReversed(
          allowlists,
          ROWS.filter((_, i) => i % 7 === 0),
          ['a'],
        )
      })
    }

    const switching = shards === 1 ? 'allowlist-switch-one' : 'allowlist-switch-meta'
    const beforeSwitch: Death[] = [
      shards === 1
        ? { script: 'allowlist-import-begin', nth: 1, when: 'after' }
        : { script: 'allowlist-replace-open', nth: 1, when: 'after' },
      { script: 'allowlist-replace-put', nth: 6, when: 'after' },
      { script: switching, nth: 1, when: 'before' },
    ]
    for (const death of beforeSwitch) {
      it(`a replace killed ${death.when} call ${death.nth} of ${death.script} leaves the list as it was`, async () => {
        const old = customers(4000, 6000)
        await fresh(shards, old)
        await deathOf('replace', death)
        const { allowlists } = engine
        await holdsExactly(allowlists, 'a', old)
        await sweepAll(allowlists, NOW + 2 * LEASE_MS)
        await holdsExactly(allowlists, 'a', old)
        const keys = (await servers.servers[0]!.say('KEYS', '*:next*')) as string[]
        assert.deepEqual(keys, [])
        await isReversed(allowlists, customers(0, 40), [])
        const result = await importIds(allowlists, 'a', ROWS, {
          mode: 'replace',
          importId: 'i',
          clock: later(),
        })
        assert.deepEqual([result.added, result.unchanged, result.removed], [4000, 1000, 1000])
        await holdsExactly(allowlists, 'a', ROWS)
      })
    }

    const behindSwitch: Death[] = [
      { script: switching, nth: 1, when: 'after' },
      ...(shards === 1 ? [] : [{ script: 'allowlist-activate', nth: 1, when: 'after' } as const]),
    ]
    for (const death of behindSwitch) {
      it(`a replace killed ${death.when} call ${death.nth} of ${death.script} is completed`, async () => {
        await fresh(shards, customers(4000, 6000))
        await deathOf('replace', death)
        const { allowlists } = engine
        const added = await allowlists.members.add('a', 'since', {}, NOW)
        assert.equal(added.outcome, 'added')
        await holdsExactly(allowlists, 'a', [...ROWS, 'since'])
        const clock = later()
        const again = await importIds(allowlists, 'a', ROWS, { mode: 'replace', importId: 'i', clock })
        assert.deepEqual([again.added, again.unchanged, again.removed], [4000, 1000, 1000])
        await sweepAll(allowlists, clock.now())
        await holdsExactly(allowlists, 'a', [...ROWS, 'since'])
        assert.deepEqual(await servers.servers[0]!.say('KEYS', '*:old'), [])
        await isReversed(allowlists, customers(5000, 5040), [])
        await isReversed(allowlists, customers(3980, 4020), ['a'])
      })
    }
  })
}
