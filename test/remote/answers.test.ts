import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { Catraca } from '../../src/app/open-catraca.js'
import { serverTarget, type Target } from '../../src/cli/commands/support/target.js'
import { CatracaError } from '../../src/core/errors.js'
import { connectCatraca } from '../../src/remote/index.js'
import { createLogger } from '../../src/server/http/logger.js'
import { type RunningServer, startServer } from '../../src/server/index.js'
import { openPatiently } from '../support/patient.js'

type Call = [string, (api: Target['allowlists']) => Promise<unknown>]

async function* body(text: string | Uint8Array) {
  yield Buffer.from(text)
}

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = []
  for await (const chunk of chunks) parts.push(chunk)
  return Buffer.concat(parts).toString()
}

const UUID = 'C0FFEE00-0000-4000-8000-000000000001'
const percentage = { strategy: 'PERCENTAGE', percentage: 0.5 } as const

/** The same calls in the same order on the library itself and on the client of a server over another instance. */
const CALLS: Call[] = [
  ['create', (api) => api.create({ id: 'vip', name: 'VIP é ∿', type: 'FIXA' })],
  ['create again', (api) => api.create({ id: 'vip', name: 'VIP', type: 'FIXA' })],
  ['create trusted', (api) => api.create({ id: 'trusted', name: 'T', type: 'FIXA', precision: 'trusted' })],
  [
    'create wave',
    (api) => api.create({ id: 'w', name: 'W', type: 'ONDA', config: { ...percentage, base: 'vip' } }),
  ],
  [
    'create a wave for all',
    (api) =>
      api.create({
        id: 'all',
        name: 'A',
        type: 'ONDA',
        config: { strategy: 'PERCENTAGE', percentage: 1, base: 'vip' },
      }),
  ],
  [
    'create without base',
    (api) => api.create({ id: 'x', name: 'X', type: 'ONDA', config: { ...percentage, base: 'no' } }),
  ],
  ['create FIXA with config', (api) => api.create({ id: 'f', name: 'F', type: 'FIXA', config: percentage })],
  ['create with a bad id', (api) => api.create({ id: 'a:b', name: 'X', type: 'FIXA' })],
  ['create with a bad name', (api) => api.create({ id: 'n', name: ' ', type: 'FIXA' })],
  ['get', (api) => api.get('w')],
  ['get nothing', (api) => api.get('none')],
  ['get empty', (api) => api.get('')],
  ['get dots', (api) => api.get('..')],
  ['list', (api) => api.list()],
  ['page', (api) => api.list({ limit: 1 })],
  ['page on', async (api) => api.list({ limit: 2, cursor: (await api.list({ limit: 1 })).nextCursor! })],
  ['page of none', (api) => api.list({ limit: 0 })],
  ['page of too many', (api) => api.list({ limit: 1001 })],
  ['page from nowhere', (api) => api.list({ cursor: 'nonsense' })],
  ['update', (api) => api.update('w', { name: 'Onda' }, { ifVersion: 1 })],
  ['update too late', (api) => api.update('w', { name: 'Late' }, { ifVersion: 1 })],
  ['update nothing', (api) => api.update('w', {})],
  ['update to a cycle', (api) => api.update('w', { config: { ...percentage, base: 'w' } })],
  ['update rule of FIXA', (api) => api.update('vip', { config: percentage })],
  ['add', (api) => api.add('vip', 'ann', { addedBy: 'me', metadata: { deep: [{ é: null }] } })],
  ['add again', (api) => api.add('vip', 'ann', { expiresAt: '2099-01-01T00:00:00Z' })],
  ['add UUID', (api) => api.add('vip', UUID)],
  ['add odd characters', (api) => api.add('vip', 'a.b_c~d:e@f+g=h-i')],
  ['add expiring to trusted', (api) => api.add('trusted', 'ann', { expiresAt: '2099-01-01T00:00:00Z' })],
  ['add with a bad time', (api) => api.add('vip', 'ann', { expiresAt: 'tomorrow' })],
  ['add with a slash', (api) => api.add('vip', 'a/b')],
  ['add dots', (api) => api.add('vip', '..')],
  ['add nobody nowhere', (api) => api.add('', '')],
  ['add an emoji', (api) => api.add('vip', '🎟')],
  ['add 257 characters', (api) => api.add('vip', 'x'.repeat(257))],
  ['add to a wave', (api) => api.add('w', 'ann')],
  ['member', (api) => api.member('vip', 'ann')],
  ['member by UUID', (api) => api.member('vip', UUID.toLowerCase())],
  ['member nobody', (api) => api.member('vip', 'zoe')],
  ['members', (api) => api.members('vip')],
  ['members page', (api) => api.members('vip', { limit: 2 })],
  ['listsOf', (api) => api.listsOf('ann')],
  ['listsOf nobody', (api) => api.listsOf('zoe')],
  ['import', (api) => api.import('vip', body('customerId\nann\nbob\nbad id\n'), { importId: 'one' })],
  [
    'import once more',
    (api) => api.import('vip', body('customerId\nann\nbob\nbad id\n'), { importId: 'one' }),
  ],
  [
    'import gzip',
    (api) =>
      api.import('vip', body(gzipSync('"cid"\n')), { importId: 'g', format: 'ndjson', addedBy: 'job' }),
  ],
  ['import other mode', (api) => api.import('vip', body('x\n'), { importId: 'one', mode: 'replace' })],
  ['import bad replace', (api) => api.import('vip', body('bad id\n'), { importId: 'two', mode: 'replace' })],
  ['import into a wave', (api) => api.import('w', body('x\n'), { importId: 'three' })],
  ['import with a bad id', (api) => api.import('vip', body('x\n'), { importId: 'a b' })],
  ['importStatus', (api) => api.importStatus('vip', 'one')],
  ['importStatus failed', (api) => api.importStatus('vip', 'two')],
  ['importStatus none', (api) => api.importStatus('vip', 'none')],
  ['importStatus dots', (api) => api.importStatus('vip', '..')],
  ['export csv', (api) => collect(api.export('vip'))],
  ['export ndjson', (api) => collect(api.export('vip', { format: 'ndjson' }))],
  ['export text', (api) => collect(api.export('vip', { format: 'text' }))],
  // Each store has its own salt, so only of a wave for all the customers are the same.
  ['export wave', (api) => collect(api.export('all'))],
  ['export none', (api) => collect(api.export('none'))],
  ['check', (api) => api.check('ann', ['vip', 'none', 'vip'])],
  ['check strong', (api) => api.check(UUID, ['vip'], { consistency: 'strong' })],
  [
    'check at least',
    async (api) => api.check('dan', ['vip'], { atLeast: (await api.add('vip', 'dan')).token }),
  ],
  ['check at least nonsense', (api) => api.check('ann', ['vip'], { atLeast: 'nonsense' })],
  [
    'check 101 lists',
    (api) =>
      api.check(
        'ann',
        Array.from({ length: 101 }, (_, i) => `l${i}`),
      ),
  ],
  ['check a bad list', (api) => api.check('ann', ['a:b'])],
  ['check a bad customer', (api) => api.check('a b', ['vip'])],
  ['checkMany', (api) => api.checkMany({ customerIds: ['ann', 'zoe'], allowlists: ['vip', 'none'] })],
  ['checkMany of none', (api) => api.checkMany({ customerIds: [], allowlists: ['vip'] })],
  ['remove', (api) => api.remove('vip', 'ann')],
  ['remove again', (api) => api.remove('vip', 'ann')],
  ['delete in use', (api) => api.delete('vip')],
  ['delete', (api) => api.delete('w')],
  ['delete again', (api) => api.delete('w')],
]

/** Any time of now; the year 2099 is part of the calls. */
const NOW = /20[2-8]\d-\d\d-\d\dT[\d:.]+Z/g

/** What came back, or what was thrown, without the times and tokens that tell one store from the other. */
async function outcome(call: () => Promise<unknown>): Promise<unknown> {
  try {
    const text = JSON.stringify((await call()) ?? null)
    return JSON.parse(text.replace(/"token":"[^"]+"/g, '"token":"TOKEN"').replace(NOW, 'TIME'))
  } catch (error) {
    assert.ok(error instanceof CatracaError, String(error))
    const { code, message, errors, facts } = error
    return { code, message, errors, facts }
  }
}

describe('the client of a server answers as the library does', () => {
  let library: Catraca
  let remote: Catraca
  let server: RunningServer
  let over: Target
  before(async () => {
    library = await openPatiently({ store: 'memory:' })
    remote = await openPatiently({ store: 'memory:' })
    server = await startServer(remote, { port: 0, logger: createLogger('silent') })
    over = serverTarget(connectCatraca({ url: server.url }))
  })
  after(async () => {
    await server.stop()
    await Promise.all([library.close(), remote.close()])
  })

  for (const [name, call] of CALLS) {
    it(name, async () => {
      const answered = await outcome(() => call(over.allowlists))
      assert.deepEqual(answered, await outcome(() => call(library.allowlists)))
    })
  }

  it('about keys', async () => {
    const { keys } = over
    const bad = { name: 'k', scopes: ['everything'] }
    assert.deepEqual(await outcome(() => keys.create(bad)), await outcome(() => library.keys.create(bad)))
    assert.deepEqual(await outcome(() => keys.revoke('k')), await outcome(() => library.keys.revoke('k')))
    assert.deepEqual(await outcome(() => keys.revoke('..')), await outcome(() => library.keys.revoke('..')))
    const { key, ...shown } = await keys.create({ name: 'k', scopes: ['read', 'admin'] })
    assert.match(key, /^ctr_/)
    const keyed = connectCatraca({ url: server.url, key })
    assert.deepEqual(await keyed.keys.list(), [shown])
    await assert.rejects(keys.list(), { code: 'UNAUTHENTICATED' })
  })
})
