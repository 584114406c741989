import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { until } from '../server/support.js'
import { STALLED, stalledReads } from '../support/stalled.js'
import { catraca, command, customers, type RunOptions, type Served, scratch, serve, start } from './run.js'

/** More than one step of the engine holds. */
const ROWS = 25_000
const dir = scratch()
/** Short enough to wait for, long enough for the next command to come while who was killed still holds it. */
const env = { CATRACA_IMPORT_LEASE_MS: '4000' }
let server: Served

before(async () => {
  writeFileSync(dir.file('ids.csv'), `customerId\n${customers(ROWS).join('\n')}\n`)
  server = await serve(['--store', 'memory:'], { env })
})
after(async () => {
  await server.stop()
  dir.remove()
})

const STORE = {
  name: 'a store',
  options: { cwd: dir.path, env: { ...env, CATRACA_STORE: 'embedded:./data' } },
}
const SERVER = {
  name: 'a server',
  get options() {
    return { cwd: dir.path, env: { ...env, CATRACA_URL: server.url } }
  },
}

async function createList(id: string, options: RunOptions): Promise<void> {
  const { code, stderr } = await command(
    ['allowlist', 'create', '--id', id, '--name', id, '--type', 'FIXA'],
    options,
  )
  assert.equal(code, 0, stderr)
}

async function json(args: string[], options: RunOptions) {
  const { stdout, stderr } = await command([...args, '--json'], options)
  assert.notEqual(stdout, '', stderr)
  return JSON.parse(stdout)
}

const started = /^import (\S+) of ids\.csv/m
const stalled = new RegExp(STALLED)

/** The same, where only half of the file can be read. */
const halfRead = (options: RunOptions) => ({
  ...options,
  env: { ...options.env, ...stalledReads(/ids\.csv$/) },
})

for (const target of [STORE, SERVER]) {
  for (const signal of ['SIGINT', 'SIGKILL'] as const) {
    it(`resumes on ${target.name} after ${signal} by the same command`, async () => {
      const { options } = target
      const id = `after-${signal}`
      await createList(id, options)
      const args = ['allowlist', 'import', id, 'ids.csv']
      const broken = start(args, halfRead(options))
      const [, importId] = await broken.said(started)
      // ^C may come at any time; the death that leaves something behind comes when the import is under way.
      if (signal === 'SIGKILL') {
        await broken.said(stalled)
        await untilStatus(id, importId!, options)
      }
      broken.child.kill(signal)
      const end = await broken.ended
      assert.equal(end.stdout, '', 'it was broken off before its end')
      if (signal === 'SIGINT') {
        assert.equal(end.code, 1)
        assert.match(end.stderr, /\ncatraca: .*\n$/)
      } else assert.equal(end.signal, 'SIGKILL')

      const again = await command(args, options)
      assert.equal(again.code, 0, again.stderr)
      assert.equal(started.exec(again.stderr)?.[1], importId)
      // Nobody was left to give the import up.
      if (signal === 'SIGKILL' && target === STORE)
        assert.match(again.stderr, /waiting for its lease to expire/)
      assert.match(again.stdout, /the list holds 25,000 customers/)
      const { customerCount } = await json(['allowlist', 'get', id], options)
      assert.equal(customerCount, ROWS)
      const { state } = await json(['allowlist', 'import-status', id, importId!], options)
      assert.equal(state, 'completed')
    })
  }

  it(`does a completed import on ${target.name} again instead of skipping it`, async () => {
    const { options } = target
    const id = 'twice'
    await createList(id, options)
    writeFileSync(dir.file('few.txt'), 'ann\nbob\n')
    const args = ['allowlist', 'import', id, 'few.txt']
    const first = await json(args, options)
    await command(['allowlist', 'remove', id, 'ann'], options)
    const second = await json(args, options)
    assert.notEqual(second.importId, first.importId)
    assert.deepEqual([first.added, second.added, second.unchanged], [2, 1, 1])
  })

  it(`reads standard input on ${target.name}, and says how to go on after an interruption`, async () => {
    const { options } = target
    const id = 'piped'
    await createList(id, options)
    const broken = start(['allowlist', 'import', id, '-', '--format', 'text'], options)
    const [, importId] = await broken.said(/^import (\S+) of standard input/m)
    broken.child.stdin!.write(`${customers(10).join('\n')}\n`)
    await untilStatus(id, importId!, options)
    broken.child.kill('SIGTERM')
    const { code, stderr } = await broken.ended
    assert.equal(code, 1)
    assert.match(stderr, new RegExp(`give the same input again with --import-id ${importId}`))

    const input = `${customers(20).join('\n')}\n`
    const rest = ['allowlist', 'import', id, '-', '--format', 'text', '--import-id', importId!]
    const result = await catraca(rest, { ...options, input })
    assert.match(result.stdout, /the list holds 20 customers/, result.stderr)
  })
}

/** The import is known to its store: from here on it can be resumed. */
async function untilStatus(id: string, importId: string, options: RunOptions): Promise<void> {
  const isKnown = async () =>
    (await command(['allowlist', 'import-status', id, importId], options)).code === 0
  await until('the import has begun', isKnown, 30_000)
}

describe('an import', () => {
  it('is refused by a server before the file is sent in full', async () => {
    const args = ['allowlist', 'import', 'missing', 'ids.csv', '--import-id', 'x', '--json']
    // What cannot be read cannot be sent either.
    const { code, stderr } = await catraca(args, halfRead(SERVER.options))
    assert.equal(code, 1)
    assert.match(stderr, /"code": "ALLOWLIST_NOT_FOUND"/)
  })

  it('takes its format from the ending or from the option', async () => {
    const { options } = STORE
    await createList('formats', options)
    writeFileSync(dir.file('a.jsonl'), '{"customerId":"ann"}\n')
    writeFileSync(dir.file('b.data'), '"bob"\n')
    assert.equal((await json(['allowlist', 'import', 'formats', 'a.jsonl'], options)).added, 1)
    const named = ['allowlist', 'import', 'formats', 'b.data', '--format', 'ndjson']
    assert.equal((await json(named, options)).added, 1)
    const { stdout } = await command(['allowlist', 'export', 'formats', '--format', 'text'], options)
    assert.equal(stdout, 'ann\nbob\n')
  })
})
