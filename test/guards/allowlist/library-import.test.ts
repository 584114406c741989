import assert from 'node:assert/strict'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { ExportFormat, ImportProgress } from '../../../src/guards/allowlist/types.js'
import { failure } from '../../support/failure.js'
import { openPatiently } from '../../support/patient.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { ids, pausing, pieces } from './bodies.js'
import { customer, customers, maker, openLibrary, until } from './library-support.js'

const directory = temporaryDirectory()
const catraca = await openLibrary()
const { allowlists } = catraca
const { fixa, wave } = maker(catraca)

const text = { format: 'text' } as const
const exported = async (id: string, format: ExportFormat): Promise<string> =>
  (await buffer(allowlists.export(id, { format }))).toString()

/** What is said of each member, but when it was added. */
async function membersOf(id: string): Promise<unknown[]> {
  return (await allowlists.members(id)).items.map(({ addedAt: _, ...rest }) => rest)
}

test('every format, plain and packed, through its thread', async () => {
  const bodies = {
    csv: '\uFEFFname;customerId;metadata\r\nx;ana;"{""k"":1}"\r\ny;not an id;\r\nz;bia;\r\n',
    ndjson: '{"customerId":"ana","metadata":{"k":1}}\n{"customerId":"not an id"}\n{"customerId":"bia"}\n',
    text: 'bia\nnot an id\nana\n',
  } as const
  const attempts = (Object.keys(bodies) as ExportFormat[]).flatMap((format) => [
    { format, gzip: false },
    { format, gzip: true },
  ])
  await Promise.all(
    attempts.map(async ({ format, gzip }) => {
      const id = `${format}-${gzip}`
      await fixa(id)
      const body = gzip ? gzipSync(bodies[format]) : bodies[format]
      const told: ImportProgress[] = []
      const options = {
        format,
        importId: 'i1',
        addedBy: 'file',
        onProgress: (each: ImportProgress) => told.push(each),
      }
      const { token, firstErrors, ...result } = await allowlists.import(id, pieces(body, 10), options)
      const counts = { added: 2, unchanged: 0, removed: 0, rejected: 1 }
      assert.deepEqual(result, { importId: 'i1', ...counts, customerCount: 2 })
      assert.deepEqual(
        firstErrors.map(({ line }) => line),
        [format === 'csv' ? 3 : 2],
      )
      const metadata = format === 'text' ? {} : { metadata: { k: 1 } }
      assert.deepEqual(await membersOf(id), [
        { customerId: 'ana', addedBy: 'file', ...metadata },
        { customerId: 'bia', addedBy: 'file' },
      ])
      assert.equal((await allowlists.check('bia', [id], { atLeast: token })).overallAllowed, true)
      const { state, rowsAcknowledged, allowlistId } = await allowlists.importStatus(id, 'i1')
      assert.deepEqual([state, rowsAcknowledged, allowlistId], ['completed', 3, id])
      const bytesRead = Buffer.byteLength(body)
      assert.deepEqual(told.at(-1), { bytesRead, rowsRead: 3, rowsAcknowledged: 3 })
    }),
  )
})

test('what is exported in any format is what is there, and can be imported again', async () => {
  await fixa('source', 'caio')
  await allowlists.add('source', 'ana', { addedBy: 'Zé, "ops"', metadata: { n: [1, 'é'] } })
  await allowlists.add('source', 'bia', { expiresAt: '2100-01-01T00:00:00.000Z' })
  const moments = (await allowlists.members('source')).items.map(({ addedAt }) => addedAt)
  assert.equal(await exported('source', 'text'), ids('ana', 'bia', 'caio'))
  assert.equal(
    await exported('source', 'csv'),
    [
      'customerId,addedAt,addedBy,expiresAt,metadata',
      `ana,${moments[0]},"Zé, ""ops""",,"{""n"":[1,""é""]}"`,
      `bia,${moments[1]},,2100-01-01T00:00:00.000Z,`,
      `caio,${moments[2]},,,`,
      '',
    ].join('\n'),
  )
  const lines = (await exported('source', 'ndjson')).trimEnd().split('\n')
  const { items } = await allowlists.members('source')
  assert.deepEqual(
    lines.map((line) => JSON.parse(line)),
    items,
  )
  for (const format of ['csv', 'ndjson'] as const) {
    await fixa(`copy-${format}`)
    await allowlists.import(`copy-${format}`, allowlists.export('source', { format }), { format })
    assert.deepEqual(await membersOf(`copy-${format}`), await membersOf('source'))
  }
  await wave('ruled', { strategy: 'PERCENTAGE', percentage: 1 })
  await failure(exported('ruled', 'csv'), 'WRONG_ALLOWLIST_TYPE')
  await failure(exported('nowhere', 'csv'), 'ALLOWLIST_NOT_FOUND')
  await failure(exported('source', 'xml' as never), 'INVALID_INPUT')
})

test('what is no import is refused before a byte of it is read', async () => {
  await fixa('picky')
  await wave('rule', { strategy: 'PERCENTAGE', percentage: 1 })
  const untouched: AsyncIterable<Uint8Array> = {
    [Symbol.asyncIterator]: () => ({ next: () => assert.fail('the body must not be touched') }),
  }
  for (const options of [
    { mode: 'merge' as never },
    { format: 'xml' as never },
    { importId: 'a b' },
    { addedBy: 'a\nb' },
    { addedBy: '' },
  ])
    await failure(allowlists.import('picky', untouched, options), 'INVALID_INPUT')
  await failure(allowlists.import('nowhere', untouched), 'ALLOWLIST_NOT_FOUND')
  await failure(allowlists.import('rule', untouched), 'WRONG_ALLOWLIST_TYPE')
  await failure(allowlists.importStatus('picky', 'none'), 'IMPORT_NOT_FOUND')
})

test('a body that breaks off, or is not bytes, ends its import and says how far it came', async () => {
  await fixa('broken')
  const { body, fail, reached } = pausing(ids('ana'))
  const running = allowlists.import('broken', body, { ...text, importId: 'cut' })
  await reached
  fail(new Error('connection reset'))
  const error = await failure(running, 'IMPORT_INTERRUPTED')
  assert.deepEqual([error.facts!.importId, error.facts!.rowsAcknowledged], ['cut', 0])
  assert.equal((await allowlists.importStatus('broken', 'cut')).state, 'interrupted')
  async function* words(): AsyncGenerator<never> {
    yield 'ana\n' as never
  }
  await failure(allowlists.import('broken', words(), text), 'INVALID_INPUT')
  const packed = gzipSync(ids('ana')).subarray(0, -4)
  await failure(allowlists.import('broken', pieces(packed), text), 'INVALID_INPUT')
  assert.equal((await allowlists.get('broken')).customerCount, 0)
})

test('an import aborted by its signal keeps what is stored, and goes on under the same id', async () => {
  await fixa('long')
  // So much is said of each customer that some thousands of them fill a run, which is then stored.
  const metadata = { text: 'x'.repeat(4000) }
  const row = (i: number): string => `${JSON.stringify({ customerId: customer(i), metadata })}\n`
  async function* rows(count: number): AsyncGenerator<Uint8Array> {
    for (let i = 0; i < count; i += 50)
      yield Buffer.from(Array.from({ length: 50 }, (_, more) => row(i + more)).join(''))
  }
  async function* endless(): AsyncGenerator<Uint8Array> {
    yield* rows(9000)
    await new Promise(() => {})
  }
  const options = { format: 'ndjson', importId: 'i1' } as const
  const stop = new AbortController()
  const running = allowlists.import('long', endless(), { ...options, signal: stop.signal })
  const caught = failure(running, 'ABORTED')
  const status = () => allowlists.importStatus('long', 'i1').catch(() => undefined)
  await until('a run is stored', async () => ((await status())?.rowsAcknowledged ?? 0) > 0)
  assert.equal((await status())!.state, 'running')
  stop.abort()
  const { facts } = await caught
  const { customerCount } = await allowlists.get('long')
  assert.ok(customerCount > 8000 && customerCount < 9000, `${customerCount} stored`)
  const { state, added, rowsAcknowledged } = await allowlists.importStatus('long', 'i1')
  assert.deepEqual([state, added, rowsAcknowledged], ['interrupted', customerCount, customerCount])
  assert.equal(facts!.rowsAcknowledged, customerCount)

  const result = await allowlists.import('long', rows(9050), options)
  assert.deepEqual([result.added, result.unchanged, result.customerCount], [9050, 0, 9050])
})

test('a signal also ends the wait for a body that says nothing, and lets go of it', async () => {
  await fixa('silent')
  const { body, reached, released } = pausing(ids('ana'))
  const stop = new AbortController()
  const caught = failure(allowlists.import('silent', body, { ...text, signal: stop.signal }), 'ABORTED')
  await reached
  stop.abort()
  await caught
  await released
  const never = allowlists.import('silent', pieces(ids('ana')), { ...text, signal: AbortSignal.abort() })
  await failure(never, 'ABORTED')
  assert.equal((await allowlists.get('silent')).customerCount, 0)
})

test('two imports at once into one list add each customer once', async () => {
  await fixa('both')
  const [one, two] = await Promise.all([
    allowlists.import('both', customers(0, 12_000), text),
    allowlists.import('both', customers(6000, 18_000), text),
  ])
  assert.equal(one.added + two.added, 18_000)
  assert.equal(one.unchanged + two.unchanged, 6000)
  assert.equal((await allowlists.get('both')).customerCount, 18_000)

  const { body, rest, reached } = pausing(ids('ana'))
  const first = allowlists.import('both', body, { ...text, importId: 'same' })
  await reached
  const second = allowlists.import('both', pieces(ids('bia')), { ...text, importId: 'same' })
  await failure(second, 'IMPORT_IN_PROGRESS')
  rest(ids('caio'))
  assert.deepEqual([(await first).added, (await first).customerCount], [2, 18_002])
})

test('a list deleted during an import ends it, whether its input goes on or not', async () => {
  const quick = await openLibrary({ import: { leaseMs: 300 } })
  for (const goesOn of [true, false]) {
    await quick.allowlists.create({ id: 'doomed', name: 'Doomed', type: 'FIXA' })
    const { body, rest, reached } = pausing(ids('ana'))
    const caught = failure(quick.allowlists.import('doomed', body, text), 'ALLOWLIST_NOT_FOUND')
    await reached
    await quick.allowlists.delete('doomed')
    if (goesOn) rest(ids('bia'))
    await caught
    await quick.upkeep()
    await quick.allowlists.create({ id: 'doomed', name: 'New', type: 'FIXA' })
    assert.deepEqual((await quick.allowlists.members('doomed')).items, [])
    await quick.allowlists.delete('doomed')
    await quick.upkeep()
  }
})

test('checks are answered all through an import, and whoever is in stays in', async () => {
  await fixa('served', customer(0))
  let running = true
  const done = allowlists.import('served', customers(0, 30_000), text).finally(() => {
    running = false
  })
  const watched = [0, 12_500, 29_999].map(customer)
  let admitted = [false, false, false]
  let answers = 0
  while (running) {
    const { results } = await allowlists.checkMany({ customerIds: watched, allowlists: ['served'] })
    const now = results.map(({ overallAllowed }) => overallAllowed)
    assert.deepEqual(
      now.map((is, i) => is || !admitted[i]),
      [true, true, true],
      `${admitted} became ${now}`,
    )
    admitted = now
    answers++
    await new Promise(setImmediate)
  }
  assert.equal((await done).added, 29_999)
  const last = await allowlists.checkMany({ customerIds: watched, allowlists: ['served'] })
  assert.ok(last.results.every(({ overallAllowed }) => overallAllowed))
  assert.ok(answers > 50, `${answers} answers`)
})

test('close() interrupts an import, which can be resumed when the store is opened again', async () => {
  const open = () => openPatiently({ store: `embedded:${directory}`, sweepIntervalMs: 0 })
  const first = await open()
  await first.allowlists.create({ id: 'kept', name: 'Kept', type: 'FIXA' })
  const { body, reached, released } = pausing(ids('ana', 'bia'))
  const caught = failure(
    first.allowlists.import('kept', body, { ...text, importId: 'i1' }),
    'IMPORT_INTERRUPTED',
  )
  await reached
  await first.close()
  await caught
  await released

  const second = await open()
  assert.equal((await second.allowlists.importStatus('kept', 'i1')).state, 'interrupted')
  const whole = pieces(ids('ana', 'bia', 'caio'))
  const result = await second.allowlists.import('kept', whole, { ...text, importId: 'i1' })
  assert.deepEqual([result.added, result.customerCount], [3, 3])
  await second.close()
})

test('a trusted list rejects rows that expire, and takes the others', async () => {
  await allowlists.create({ id: 'sure', name: 'Sure', type: 'FIXA', precision: 'trusted' })
  const body = 'customerId,expiresAt\nana,\nbia,2100-01-01T00:00:00Z\ncaio,\n'
  const { added, rejected, firstErrors } = await allowlists.import('sure', pieces(body), { format: 'csv' })
  assert.deepEqual([added, rejected, firstErrors[0]!.line], [2, 1, 3])
  assert.match(firstErrors[0]!.message, /expiresAt/)
  assert.deepEqual(await membersOf('sure'), [{ customerId: 'ana' }, { customerId: 'caio' }])
  const replace = allowlists.import('sure', pieces(body), { format: 'csv', mode: 'replace' })
  const refused = await failure(replace, 'INVALID_INPUT')
  assert.deepEqual(
    refused.errors!.map(({ path }) => path),
    ['line 3'],
  )
})
