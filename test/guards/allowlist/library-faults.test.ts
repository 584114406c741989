import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { isCatracaError } from '../../../src/core/errors.js'
import { openPatiently } from '../../support/patient.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { ids, pieces } from './bodies.js'
import { customer, customers, maker, openLibrary } from './library-support.js'

const directory = temporaryDirectory()
const catraca = await openLibrary()
const { allowlists } = catraca
const { fixa, wave } = maker(catraca)
const everybody = { strategy: 'PERCENTAGE', percentage: 1 } as const

test('an import that close() overtakes is refused, and brings nothing back', async () => {
  const path = join(directory, 'gone')
  const other = await openPatiently({ store: `embedded:${path}`, sweepIntervalMs: 0 })
  await other.allowlists.create({ id: 'l', name: 'L', type: 'FIXA' })
  const attempt = other.allowlists.import('l', pieces(ids('a')), { format: 'text' }).catch((error) => error)
  await other.close()
  assert.ok(isCatracaError(await attempt, 'CLOSED'), String(await attempt))
  assert.ok(existsSync(path))
})

test('a wave whose chain grew at its far end still excludes whom it should', async () => {
  await fixa('banned', 'bad')
  await wave('w1', everybody)
  for (let i = 2; i <= 8; i++) await wave(`w${i}`, { ...everybody, base: `w${i - 1}` })
  await wave('w9', { ...everybody, exclude: ['w8'] })
  await wave('x', { ...everybody, base: 'banned' })
  await allowlists.update('w1', { config: { ...everybody, base: 'x' } }).catch(() => {})
  assert.equal((await allowlists.check('bad', ['w9'])).results[0]!.reason, 'EXCLUDED')
})

test('waves that exclude the same lists again and again are judged once each', async () => {
  await fixa('far-away', 'bad')
  let before = ['far-away']
  for (let level = 0; level < 7; level++) {
    // Twenty ways at each of seven levels: counted one by one they would take for ever.
    const now = Array.from({ length: 20 }, (_, i) => `fan-${level}-${i}`)
    for (const id of now) await wave(id, { ...everybody, exclude: before })
    before = now
  }
  assert.equal((await allowlists.check('good', before)).results.length, 20)
})

test('one question sees one state, however large it is and however fresh it must be', async () => {
  await fixa('switched')
  const lists = ['switched', ...Array.from({ length: 19 }, (_, i) => `none-${i}`)]
  const old = Array.from({ length: 200 }, (_, i) => customer(i))
  const young = Array.from({ length: 200 }, (_, i) => customer(2000 + i))
  for (const options of [undefined, { consistency: 'strong' as const }]) {
    for (let round = 0; round < 2; round++) {
      let running = true
      const file = round % 2 === 0 ? customers(0, 2000) : customers(2000, 4000)
      const done = allowlists.import('switched', file, { format: 'text', mode: 'replace' }).finally(() => {
        running = false
      })
      while (running) {
        const question = { customerIds: [...old, ...young], allowlists: lists }
        const { results } = await allowlists.checkMany(question, options)
        const admitted = results.map((answer) => answer.results[0]!.allowed)
        const olds = new Set(admitted.slice(0, 200))
        const youngs = new Set(admitted.slice(200))
        assert.deepEqual([olds.size, youngs.size], [1, 1], 'some of both')
        assert.ok(!(olds.has(true) && youngs.has(true)), 'both')
        await new Promise(setImmediate)
      }
      await done
    }
  }
})

test('an import that changes attributes only is a change', async () => {
  await fixa('attributes', 'ana')
  const before = await allowlists.get('attributes')
  const { token } = await allowlists.add('attributes', 'ana')
  await new Promise((resolve) => setTimeout(resolve, 5))
  const body = 'customerId,expiresAt\nana,2100-01-01T00:00:00Z\n'
  const result = await allowlists.import('attributes', pieces(body), { format: 'csv' })
  assert.notEqual(result.token, token)
  assert.notEqual((await allowlists.get('attributes')).updatedAt, before.updatedAt)
})

test('a callback that throws harms nobody but its import', async () => {
  await fixa('told')
  const onProgress = () => {
    throw new Error('mine')
  }
  await allowlists.import('told', pieces(ids('a')), { format: 'text', onProgress }).catch(() => {})
})
