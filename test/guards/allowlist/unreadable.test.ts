import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { open as openLmdb } from 'lmdb'
import { mainDirectory } from '../../../src/engines/embedded/lmdb/store-directory.js'
import type { Catraca, OpenOptions } from '../../../src/index.js'
import { makeTables } from '../../support/dynamodb-engine.js'
import { CREDENTIALS, startDynamo } from '../../support/dynamodb-server.js'
import { failure } from '../../support/failure.js'
import { openPatiently } from '../../support/patient.js'
import { oneServer } from '../../support/redis-engines.js'
import { temporaryDirectory } from '../../support/temporary.js'

/** The lists that cannot be read, and the two ways in which a record is bad. */
const BAD = ['other', 'damaged']

interface Scene {
  options: OpenOptions
  /** Spoils the records of two lists as no version would write them, while nobody has the store open. */
  spoil(): Promise<void>
}

const redis = oneServer()

const SCENES: Record<string, () => Promise<Scene>> = {
  async embedded() {
    const directory = temporaryDirectory()
    return {
      options: { store: `embedded:${directory}` },
      async spoil() {
        const root = openLmdb({ path: mainDirectory(directory), maxDbs: 64, noSubdir: false })
        const lists = root.openDB<string, string>('lists', { encoding: 'string' })
        const stored = JSON.parse(lists.get('other')!)
        await lists.put('other', JSON.stringify({ ...stored, type: 'OTHER' }))
        await lists.put('damaged', '{"no":')
        await root.close()
      },
    }
  },
  async Redis() {
    return {
      options: { store: `redis://127.0.0.1:${redis.server().port}` },
      async spoil() {
        await redis.raw('HSET', '{allowlist:other}:meta', 'type', 'OTHER')
        await redis.raw('DEL', '{allowlist:damaged}:meta')
        await redis.raw('SET', '{allowlist:damaged}:meta', 'of another program')
      },
    }
  },
  async DynamoDB() {
    const server = await startDynamo()
    const tables = await makeTables(server)
    return {
      options: {
        store: server.url(tables.names),
        dynamodb: { credentials: CREDENTIALS, probeIntervalMs: 0 },
      },
      async spoil() {
        const meta = (id: string) => tables.item(`ALLOWLIST#${id}`, 'META')
        await tables.put({ ...(await meta('other'))!, type: { S: 'OTHER' } })
        await tables.put({ ...(await meta('damaged'))!, version: { S: 'one' } })
      },
    }
  },
}

async function fill({ allowlists }: Catraca): Promise<void> {
  for (const id of ['good', ...BAD]) {
    await allowlists.create({ id, name: id, type: 'FIXA' })
    await allowlists.add(id, 'ann')
  }
  const all = { strategy: 'PERCENTAGE', percentage: 1 } as const
  await allowlists.create({ id: 'on-it', name: 'w', type: 'ONDA', config: { ...all, base: 'other' } })
  await allowlists.create({
    id: 'without',
    name: 'w',
    type: 'ONDA',
    config: { ...all, exclude: ['damaged'] },
  })
  await allowlists.create({ id: 'wave', name: 'w', type: 'ONDA', config: all })
}

for (const [engine, make] of Object.entries(SCENES)) {
  describe(`lists whose records cannot be read, on the engine ${engine}`, () => {
    it('answer by themselves, and the others too', async (t) => {
      const scene = await make()
      const first = await openPatiently({ ...scene.options, sweepIntervalMs: 0 })
      await fill(first)
      await first.close()
      await scene.spoil()
      const reports: string[] = []
      const onReport = (message: string) => void reports.push(message)
      const catraca = await openPatiently({ ...scene.options, sweepIntervalMs: 0, onReport })
      t.after(() => catraca.close())
      const { allowlists } = catraca
      const asked = ['good', ...BAD, 'on-it', 'without', 'wave']
      const expected = [
        ['good', true, 'MEMBER'],
        ['other', false, 'ALLOWLIST_UNREADABLE'],
        ['damaged', false, 'ALLOWLIST_UNREADABLE'],
        ['on-it', false, 'ALLOWLIST_UNREADABLE'],
        ['without', false, 'ALLOWLIST_UNREADABLE'],
        ['wave', true, 'IN_WAVE'],
      ]
      const told = (results: readonly { allowlistId: string; allowed: boolean; reason: string }[]) =>
        results.map(({ allowlistId, allowed, reason }) => [allowlistId, allowed, reason])
      for (const consistency of [undefined, 'strong'] as const) {
        const answer = await allowlists.check('ann', asked, consistency === undefined ? {} : { consistency })
        assert.deepEqual(told(answer.results), expected)
      }
      const many = await allowlists.checkMany({ customerIds: ['ann', 'bob'], allowlists: asked })
      assert.deepEqual(told(many.results[0]!.results), expected)
      assert.deepEqual(told((await allowlists.explain('ann', asked)).results), expected)
      for (const id of BAD) {
        const error = await failure(allowlists.get(id), 'ALLOWLIST_UNREADABLE')
        assert.match(error.message, new RegExp(`record of allowlist ${id} cannot be read: `))
        assert.equal(reports.filter((message) => message.includes(` ${id} `)).length, 1, reports.join('\n'))
      }
      const listed = (await allowlists.list({ limit: 100 })).items.map(({ id }) => id)
      assert.deepEqual(listed, ['good', 'on-it', 'wave', 'without'])
      const memberships = (await allowlists.listsOf('ann', {})).items.map(({ allowlistId }) => allowlistId)
      assert.deepEqual(memberships, ['good'])
    })
  })
}
