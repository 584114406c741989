import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { decorated } from '../../../src/app/decorate.js'
import { CHECKED_CALLS } from '../../../src/app/fields-of-calls.js'
import { type Catraca, openCatraca } from '../../../src/app/open-catraca.js'
import { recorded } from '../../../src/app/record-audit.js'
import { ManualClock } from '../../../src/core/clock.js'
import { CatracaError } from '../../../src/core/errors.js'
import { Allowlists, type AllowlistsParts } from '../../../src/guards/allowlist/index.js'
import { AuditTrail } from '../../../src/guards/audit/index.js'
import type { StoredEntry } from '../../../src/guards/audit/port.js'
import { boundedMembers, recordedMembers } from '../../../src/guards/audit/recorded-members.js'
import { type AuditOptions, DEFAULT_AUDIT } from '../../../src/guards/audit/types.js'
import { fakeTime } from '../../support/fake-time.js'

const recordedAllowlists = (guard: Allowlists, trail: AuditTrail): Allowlists =>
  decorated(guard, CHECKED_CALLS.allowlists, recorded(trail, 'allowlists', guard))

/** Verbs that fail on purpose, recorded in memory. */
function failing(error: CatracaError) {
  const stored: StoredEntry[] = []
  const fail = () => Promise.reject(error)
  const lists = {
    create: fail,
    update: fail,
    delete: fail,
    get: fail,
    pause: fail,
    resume: fail,
    rebuild: fail,
  }
  const store = { add: fail, remove: fail, get: fail, page: fail, listsOf: fail }
  const guard = { ...lists, reshard: fail, import: fail } as unknown as Allowlists
  const trail = new AuditTrail({
    store: {
      append: async (entries) => void stored.push(...entries),
      read: async () => ({ entries: [] }),
      sweep: async () => ({ more: false }),
    },
    clock: new ManualClock(0),
    options: DEFAULT_AUDIT,
    changeTimeoutMs: 10_000,
    report: () => {},
  })
  const recordedGuard = recordedAllowlists(guard, trail)
  const members = [true, false].map((keepsNotes) =>
    recordedMembers({ ...store, storesAuditEntries: keepsNotes }, trail, true),
  )
  return { guard: recordedGuard, members, entries: () => stored.map(({ text }) => JSON.parse(text)) }
}

/** Of a change, what was looked at before it, and its entry: whichever of them never ends. */
type Step = 'look' | 'change' | 'entry'

function hanging(steps: readonly Step[], options: Partial<AuditOptions> = {}) {
  const said: string[] = []
  const step = <T>(name: Step, result: T) =>
    steps.includes(name) ? new Promise<T>(() => {}) : Promise.resolve(result)
  const guard = {
    update: () => step('change', { version: 2 }),
    get: () => step('look', { version: 1 }),
  } as unknown as Allowlists
  const trail = new AuditTrail({
    store: {
      append: () => step('entry', undefined),
      read: async () => ({ entries: [] }),
      sweep: async () => ({ more: false }),
    },
    clock: new ManualClock(0),
    options: { ...DEFAULT_AUDIT, ...options },
    changeTimeoutMs: 20,
    report: (message) => said.push(message),
  })
  const recordedGuard = recordedAllowlists(guard, trail)
  return { update: () => recordedGuard.update('vip', { name: 'V' }), said }
}

describe('a change in a store that falls silent', () => {
  it('ends in time, whichever of its steps hangs', async () => {
    await assert.rejects(hanging(['look', 'change', 'entry']).update(), { code: 'ENGINE_UNAVAILABLE' })
    await assert.rejects(hanging(['change', 'entry']).update(), { code: 'UNKNOWN_OUTCOME' })
    await assert.rejects(hanging(['change', 'entry'], { enabled: false }).update(), {
      code: 'UNKNOWN_OUTCOME',
    })
    const { update, said } = hanging(['entry'])
    assert.deepEqual(await update(), { version: 2 })
    assert.match(said.join(), /could not be written/)
    await assert.rejects(hanging(['entry'], { onFailure: 'fail' }).update(), { code: 'AUDIT_NOT_RECORDED' })
  })
})

describe('a change of a member in a store that is slow to say what the list is', () => {
  const timeoutMs = 10_000
  const never = () => new Promise<never>(() => {})

  function slow(list: () => Promise<unknown>, options: Partial<AuditOptions> = {}) {
    const trail = new AuditTrail({
      store: { append: never, read: never, sweep: never },
      clock: new ManualClock(0),
      options: { ...DEFAULT_AUDIT, ...options },
      changeTimeoutMs: timeoutMs,
      report: () => {},
    })
    const store = { add: never, remove: never, get: never, page: never, listsOf: never }
    const around = options.members === false ? boundedMembers : recordedMembers
    const members = around({ ...store, storesAuditEntries: false }, trail, false)
    const engine = { lists: { get: list }, members }
    return new Allowlists({ engine, clock: new ManualClock(0) } as unknown as AllowlistsParts)
  }

  it('has one deadline, from the call on', async (t) => {
    const pass = fakeTime(t)
    let tell = (_list: unknown) => {}
    const told = new Promise((resolve) => {
      tell = resolve
    })
    const late = () => told
    const ended: string[] = []
    const calls = {
      'UNKNOWN_OUTCOME of an add': slow(late).add('vip', 'ann'),
      'UNKNOWN_OUTCOME of a removal': slow(late).remove('vip', 'ann'),
      'UNKNOWN_OUTCOME of an add that is not recorded': slow(late, { members: false }).add('vip', 'ann'),
      'ENGINE_UNAVAILABLE of an add': slow(never).add('vip', 'ann'),
      'ENGINE_UNAVAILABLE of a removal': slow(never).remove('vip', 'ann'),
    }
    for (const [name, call] of Object.entries(calls))
      call.catch((error: CatracaError) => ended.push(name.replace(/^\S+/, error.code)))
    await pass(0.9 * timeoutMs)
    tell({ id: 'vip', type: 'FIXA' })
    await pass(0.05 * timeoutMs)
    assert.deepEqual(ended, [])
    await pass(0.2 * timeoutMs)
    assert.deepEqual(ended.sort(), Object.keys(calls).sort())
  })
})

async function* nothing(): AsyncGenerator<Uint8Array> {}

describe('a change that fails', () => {
  it('is recorded as of unknown outcome when the store did not say', async () => {
    const { guard, members, entries } = failing(new CatracaError('UNKNOWN_OUTCOME', 'no answer'))
    for (const store of members) {
      const added = store.add('vip', 'ann', { addedBy: 'me' }, 0, performance.now())
      await assert.rejects(added, { code: 'UNKNOWN_OUTCOME' })
    }
    await assert.rejects(guard.delete('vip'), { code: 'UNKNOWN_OUTCOME' })
    assert.deepEqual(
      entries().map(({ action, outcome, after }) => [action, outcome, after]),
      [
        ['allowlist.member.add', 'unknown', { addedBy: 'me' }],
        ['allowlist.member.add', 'unknown', { addedBy: 'me' }],
        ['allowlist.delete', 'unknown', undefined],
      ],
    )
  })

  it('is not recorded when nothing was changed', async () => {
    const { guard, members, entries } = failing(new CatracaError('ENGINE_UNAVAILABLE', 'down'))
    for (const store of members) {
      const added = store.add('vip', 'ann', {}, 0, performance.now())
      await assert.rejects(added, { code: 'ENGINE_UNAVAILABLE' })
    }
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

const appender = fileURLToPath(new URL('../../../src/guards/audit/appender.js', import.meta.url))
const library = fileURLToPath(new URL('../../../src/app/open-catraca.js', import.meta.url))

/** Runs the lines with `catraca` open on a store of its own until it is killed, by itself or at its first word. */
async function victim(t: TestContext, lines: string): Promise<Catraca> {
  const directory = mkdtempSync(join(tmpdir(), 'catraca-audit-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const store = `embedded:${directory}`
  const source = `
const { openCatraca } = await import(${JSON.stringify(library)})
const catraca = await openCatraca({ store: ${JSON.stringify(store)}, sweepIntervalMs: 0 })
const { allowlists, audit } = catraca
await allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
${lines}`
  const stdio = ['ignore', 'pipe', 'inherit'] as const
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], { stdio: [...stdio] })
  child.stdout!.once('data', () => child.kill('SIGKILL'))
  const [, signal] = await once(child, 'exit')
  assert.equal(signal, 'SIGKILL')
  const catraca = await openCatraca({ store, sweepIntervalMs: 0 })
  t.after(() => catraca.close())
  return catraca
}

describe('a process that is killed between a change and its entry', () => {
  it('leaves the change without an entry, and a trail that goes on', async (t) => {
    const catraca = await victim(
      t,
      `await allowlists.add('vip', 'recorded')
const { Appender } = await import(${JSON.stringify(appender)})
Appender.prototype.flush = () => process.kill(process.pid, 'SIGKILL')
await allowlists.update('vip', { name: 'V' })`,
    )
    assert.equal((await catraca.allowlists.get('vip')).name, 'V')
    await catraca.allowlists.add('vip', 'later')
    const { items } = await catraca.audit.list()
    assert.deepEqual(
      items.map(({ target }) => target.customerId),
      ['later', 'recorded', undefined],
    )
  })

  it('finds every single member and its entry together where one store keeps both', async (t) => {
    const { allowlists, audit } = await victim(
      t,
      `let next = 0
const adding = async () => {
  for (;;) {
    await allowlists.add('vip', 'customer-' + next++)
    if (next === 300) console.log('kill me')
  }
}
await Promise.all(Array.from({ length: 32 }, adding))`,
    )
    const found = (await text(allowlists.export('vip', { format: 'text' }))).split('\n').filter(Boolean)
    const entries: string[] = []
    let cursor: string | undefined
    do {
      const page = await audit.list({ action: 'allowlist.member', limit: 1000, ...(cursor && { cursor }) })
      entries.push(...page.items.map(({ target }) => target.customerId!))
      cursor = page.nextCursor
    } while (cursor !== undefined)
    assert.ok(found.length > 200, `${found.length} members`)
    assert.deepEqual(entries.sort(), found.sort())
  })
})

describe('a trail in a store of its own', () => {
  it('has the entries of members, and the store of the lists has none', async (t) => {
    const directory = mkdtempSync(join(tmpdir(), 'catraca-audit-'))
    t.after(() => rmSync(directory, { recursive: true, force: true }))
    const lists = `embedded:${join(directory, 'lists')}`
    const trail = `embedded:${join(directory, 'trail')}`
    const catraca = await openCatraca({ store: lists, sweepIntervalMs: 0, audit: { store: trail } })
    await catraca.allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
    await catraca.allowlists.add('vip', 'ann')
    const { items } = await catraca.audit.list()
    assert.deepEqual(
      items.map(({ action }) => action),
      ['allowlist.member.add', 'allowlist.create'],
    )
    await catraca.close()
    const alone = await openCatraca({ store: lists, sweepIntervalMs: 0 })
    t.after(() => alone.close())
    assert.deepEqual((await alone.audit.list()).items, [])
  })
})
