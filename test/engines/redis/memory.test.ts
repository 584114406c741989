import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { memoryOfKeys } from '../../../bench/support/redis-memory.js'
import { openCatraca } from '../../../src/app/open-catraca.js'
import { customers } from '../../../src/conformance/support.js'
import { startSingle } from '../../support/redis/index.js'

const root = new URL('../../../../', import.meta.url)
const MEMBERS = 20_000
/** Half of what version 0.1.0 took. */
const MOST_BYTES = 210

describe('memory of memberships', () => {
  it('is half of that of version 0.1.0, also after replaces, single writes and removals', async (t) => {
    const redis = await startSingle()
    const [server] = redis.servers
    const catraca = await openCatraca({ store: redis.storeUrl, membership: { maxBytes: 0 } })
    t.after(async () => {
      await catraca.close()
      await redis.stop()
    })
    const { allowlists } = catraca
    await allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
    const before = await memoryOfKeys(server!)
    const ids = customers(0, MEMBERS)
    async function* lines(of: readonly string[]): AsyncGenerator<Uint8Array> {
      yield Buffer.from(of.join('\n'))
    }
    await allowlists.import('vip', lines(ids), { format: 'text' })
    await allowlists.import('vip', lines(ids.slice(500)), { format: 'text', mode: 'replace' })
    for (const id of ids.slice(0, 600)) await allowlists.add('vip', id)
    for (const id of ids.slice(0, 100)) await allowlists.remove('vip', id)
    // Bounded, whatever the number of members.
    await server!.say('DEL', '{allowlist:vip}:log', '{allowlist:vip}:unindexed')
    for (const key of (await server!.say('KEYS', 'audit:*')) as string[]) await server!.say('DEL', key)
    const bytes = ((await memoryOfKeys(server!)) - before) / (MEMBERS - 100)
    assert.ok(bytes <= MOST_BYTES, `${bytes} bytes for each membership`)
  })

  for (const page of ['docs/guides/operating-redis.md', 'docs/pt-BR/guides/operating-redis.md']) {
    it(`is on ${page} as it was measured`, () => {
      const text = readFileSync(new URL(page, root), 'utf8')
      const { figures } = JSON.parse(readFileSync(new URL('bench/results/redis-memory.json', root), 'utf8'))
      const told = [...text.matchAll(/^\| [^|]+ \| (\d+) \|/gm)].map((match) => Number(match[1]))
      assert.deepEqual(told, Object.values(figures as Record<string, number>).map(Math.round))
    })
  }
})
