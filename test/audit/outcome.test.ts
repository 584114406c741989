import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Allowlists } from '../../src/allowlist/allowlists.js'
import type { StoredEntry } from '../../src/audit/port.js'
import { recordAllowlists } from '../../src/audit/recorded-allowlists.js'
import { AuditTrail } from '../../src/audit/trail.js'
import { DEFAULT_AUDIT } from '../../src/audit/types.js'
import { openCatraca } from '../../src/catraca.js'
import { ManualClock } from '../../src/clock.js'
import { CatracaError } from '../../src/errors.js'

/** Verbs that fail on purpose, recorded in memory. */
function failing(error: CatracaError) {
  const stored: StoredEntry[] = []
  const fail = () => Promise.reject(error)
  const lists = {
    create: fail,
    update: fail,
    delete: fail,
    get: fail,
    add: fail,
    remove: fail,
    rebuild: fail,
  }
  const guard = { ...lists, reshard: fail, import: fail } as unknown as Allowlists
  const trail = new AuditTrail({
    store: {
      append: async (entries) => void stored.push(...entries),
      read: async () => ({ entries: [] }),
      sweep: async () => ({ more: false }),
    },
    clock: new ManualClock(0),
    options: DEFAULT_AUDIT,
    report: () => {},
  })
  recordAllowlists(guard, trail, true)
  return { guard, entries: () => stored.map(({ text }) => JSON.parse(text)) }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

describe('a change that fails', () => {
  it('is recorded as of unknown outcome when the store did not say', async () => {
    const { guard, entries } = failing(new CatracaError('UNKNOWN_OUTCOME', 'no answer'))
    await assert.rejects(guard.add('vip', 'ann', { addedBy: 'me' }), { code: 'UNKNOWN_OUTCOME' })
    await assert.rejects(guard.delete('vip'), { code: 'UNKNOWN_OUTCOME' })
    assert.deepEqual(
      entries().map(({ action, outcome, after }) => [action, outcome, after]),
      [
        ['allowlist.member.add', 'unknown', { addedBy: 'me' }],
        ['allowlist.delete', 'unknown', undefined],
      ],
    )
  })

  it('is not recorded when nothing was changed', async () => {
    const { guard, entries } = failing(new CatracaError('ENGINE_UNAVAILABLE', 'down'))
    await assert.rejects(guard.add('vip', 'ann'), { code: 'ENGINE_UNAVAILABLE' })
    await assert.rejects(guard.import('vip', nothing()), { code: 'ENGINE_UNAVAILABLE' })
    assert.deepEqual(entries(), [])
  })

  it('is recorded as partial when an import broke off behind its first rows', async () => {
    const facts = { importId: 'one', rowsAcknowledged: 7, added: 5, unchanged: 2, removed: 0, rejected: 0 }
    const { guard, entries } = failing(new CatracaError('IMPORT_INTERRUPTED', 'cut', { facts }))
    await assert.rejects(guard.import('vip', nothing(), { mode: 'add' }), { code: 'IMPORT_INTERRUPTED' })
    const { rowsAcknowledged: _, ...counts } = facts
    assert.deepEqual(
      entries().map(({ outcome, detail }) => [outcome, detail]),
      [['partial', { ...counts, mode: 'add' }]],
    )
  })
})

/** Dies in the moment between a change and its entry. */
const VICTIM = `
const { openCatraca } = await import(process.argv[2])
const catraca = await openCatraca({ store: process.argv[3], sweepIntervalMs: 0 })
await catraca.allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
await catraca.allowlists.add('vip', 'recorded')
catraca.audit.appender.flush = () => process.kill(process.pid, 'SIGKILL')
await catraca.allowlists.add('vip', 'unrecorded')
`

describe('a process that is killed between a change and its entry', () => {
  it('leaves the change without an entry, and a trail that goes on', async (t: TestContext) => {
    const directory = mkdtempSync(join(tmpdir(), 'catraca-audit-'))
    t.after(() => rmSync(directory, { recursive: true, force: true }))
    const store = `embedded:${directory}`
    const library = fileURLToPath(new URL('../../src/catraca.js', import.meta.url))
    const source = VICTIM.replace('process.argv[2]', JSON.stringify(library)).replace(
      'process.argv[3]',
      JSON.stringify(store),
    )
    const child = spawn(process.execPath, ['--input-type=module', '-e', source], { stdio: 'inherit' })
    const [, signal] = await once(child, 'exit')
    assert.equal(signal, 'SIGKILL')
    const catraca = await openCatraca({ store, sweepIntervalMs: 0 })
    t.after(() => catraca.close())
    assert.equal((await catraca.allowlists.member('vip', 'unrecorded')).customerId, 'unrecorded')
    await catraca.allowlists.add('vip', 'later')
    const { items } = await catraca.audit.list()
    assert.deepEqual(
      items.map(({ target }) => target.customerId),
      ['later', 'recorded', undefined],
    )
  })
})
