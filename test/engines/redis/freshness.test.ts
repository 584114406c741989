import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { customer, customers, fixa, holds, NOW, newFixa } from '../../../src/conformance/support.js'
import { isCatracaError } from '../../../src/core/errors.js'
import type { ListRef, Position } from '../../../src/guards/allowlist/changes/port.js'
import type { AllowlistEngine, CheckedList } from '../../../src/guards/allowlist/port.js'
import { until } from '../../support/redis/index.js'
import { oneServer } from '../../support/redis-engines.js'

const { open, raw, callsOf, flush, server } = oneServer()

const present = (engine: AllowlistEngine, id: string) => {
  const view = engine.checks.view(undefined)
  return 'then' in view ? undefined : view.list(id)
}

const unavailable = (error: unknown) => isCatracaError(error, 'ENGINE_UNAVAILABLE')

describe('the change feed on Redis', () => {
  async function positionAfter(engine: AllowlistEngine, list: ListRef, from: number, to: number) {
    for (const id of customers(from, to)) await engine.members.add('a', id, {}, NOW)
    return (await engine.changes.position(list)) as Position
  }

  it('has a gap for who is behind what was trimmed, and goes on for who is not', async () => {
    const { allowlists } = await open({ maxLogBytes: 300 })
    const list = await newFixa(allowlists, 'a')
    const early = await positionAfter(allowlists, list, 0, 3)
    const late = await positionAfter(allowlists, list, 3, 60)
    const last = await positionAfter(allowlists, list, 60, 62)
    assert.equal(await allowlists.changes.read(list, early), 'gap')
    assert.equal(await allowlists.changes.read(list, [{ sequence: 0, mark: 0 }]), 'gap')
    const part = await allowlists.changes.read(list, late)
    assert.ok(part !== 'gap')
    assert.deepEqual(
      part.entries.map(({ sequence }) => sequence),
      [61, 62],
    )
    assert.ok(Number(await raw('XLEN', '{allowlist:a}:log')) < 15)
    await raw('DEL', '{allowlist:a}:log')
    assert.deepEqual(await allowlists.changes.read(list, last), { entries: [], more: false, generation: 0 })
    assert.equal(await allowlists.changes.read(list, late), 'gap')
  })

  it('has a gap where the same numbers tell another history', async () => {
    const { allowlists } = await open()
    const list = await newFixa(allowlists, 'a')
    const shared = await positionAfter(allowlists, list, 0, 2)
    await raw('SAVE')
    const lost = await positionAfter(allowlists, list, 2, 4)
    await server().restart()
    await raw('CONFIG', 'SET', 'save', '')
    await until('it is back', () => holds(allowlists, 'a', customer(0)))
    assert.equal(await holds(allowlists, 'a', customer(3)), false)
    assert.equal(await allowlists.changes.read(list, lost), 'gap')
    const other = await positionAfter(allowlists, list, 10, 12)
    assert.equal(other[0]!.sequence, lost[0]!.sequence)
    assert.equal(await allowlists.changes.read(list, lost), 'gap')
    const part = await allowlists.changes.read(list, shared)
    assert.ok(part !== 'gap')
    assert.equal(part.entries.length, 2)
  })

  it('tells all that is far behind in parts', async () => {
    const { allowlists } = await open()
    const list = await newFixa(allowlists, 'a')
    await Promise.all(customers(0, 300).map((id) => allowlists.members.add('a', id, {}, NOW)))
    let position: Position = [{ sequence: 0, mark: 0 }]
    let parts = 0
    for (let more = true; more; parts++) {
      const part = await allowlists.changes.read(list, position)
      assert.ok(part !== 'gap')
      const { sequence, mark } = part.entries.at(-1)!
      position = [{ sequence, mark }]
      more = part.more
    }
    assert.ok(parts > 1)
    assert.deepEqual(position, await allowlists.changes.position(list))
  })
})

describe('checks on Redis', () => {
  it('of one turn are one SMISMEMBER, each customer asked once', async () => {
    for (const initialShards of [1, 3]) {
      const { allowlists } = await open({ initialShards })
      await newFixa(allowlists, 'a')
      await allowlists.members.add('a', customer(1), {}, NOW)
      const view = await allowlists.checks.view('strong')
      const list = (await view.list('a'))!
      const ids = [...customers(0, 200), ...customers(0, 200)]
      await raw('CONFIG', 'RESETSTAT')
      const found = await Promise.all(ids.map((id) => view.member(list, id)))
      assert.deepEqual([found.filter(Boolean).length, found[1]], [2, { addedAt: NOW }])
      assert.equal(await callsOf('smismember'), initialShards)
      assert.equal(await callsOf('hgetall'), 0)
      await flush()
    }
  })

  it('and writes go on when the server has forgotten the scripts', async () => {
    const { allowlists } = await open()
    await newFixa(allowlists, 'a')
    await raw('SCRIPT', 'FLUSH')
    const outcomes = await Promise.all(customers(0, 20).map((id) => allowlists.members.add('a', id, {}, NOW)))
    assert.ok(outcomes.every(({ outcome }) => outcome === 'added'))
    assert.equal((await allowlists.lists.get('a'))?.customerCount, 20)
  })

  it('know a list without asking, as one object, until it changes', async () => {
    const one = (await open()).allowlists
    const two = (await open()).allowlists
    await newFixa(one, 'a')
    const first = (await present(two, 'a')) as CheckedList
    await raw('CONFIG', 'RESETSTAT')
    for (let i = 0; i < 100; i++) assert.equal(present(two, 'a'), first)
    assert.equal(await callsOf('hgetall'), 0)
    await one.members.add('a', customer(1), {}, NOW)
    assert.equal(present(two, 'a'), first)
    // Told of by a message.
    await one.lists.update('a', { name: 'New' }, NOW)
    await until('the change is seen', async () => (await present(two, 'a'))?.name === 'New', 500)
    const second = await present(two, 'a')
    // Told of by nobody.
    await raw('HSET', '{allowlist:a}:meta', 'name', 'Newer', 'version', '9')
    assert.equal(present(two, 'a'), second)
    await until('it was looked at again', async () => (await present(two, 'a'))?.name === 'Newer', 4000)
  })

  it('do not answer from what is known of a list for too long', async () => {
    const { allowlists } = await open({ staleAfterMs: 300, commandTimeoutMs: 300 })
    await newFixa(allowlists, 'a')
    const list = await present(allowlists, 'a')
    server().pause()
    try {
      assert.equal(present(allowlists, 'a'), list)
      await until('it is too old', async () => {
        try {
          await present(allowlists, 'a')
          return false
        } catch (error) {
          return unavailable(error)
        }
      })
    } finally {
      server().resume()
    }
    await until('it answers again', async () => (await present(allowlists, 'a'))?.id === 'a')
  })

  it('see that the store was emptied behind our back, and what is written then', async () => {
    const one = (await open()).allowlists
    const two = (await open()).allowlists
    const list = await newFixa(one, 'a')
    await one.members.add('a', customer(1), {}, NOW)
    const position = (await one.changes.position(list))!
    assert.equal((await present(two, 'a'))?.id, 'a')
    await flush()
    assert.deepEqual(await one.members.add('a', customer(2), {}, NOW), { outcome: 'list-not-found' })
    assert.equal(await one.changes.position(list), undefined)
    assert.equal(await two.changes.read(list, position), 'gap')
    const view = two.checks.view(undefined)
    assert.ok(!('then' in view))
    const known = await view.list('a')
    if (known !== undefined)
      await assert.rejects(async () => view.member(known, customer(1)), { name: 'ViewChanged' })
    assert.equal(await present(two, 'a'), undefined)
    const created = await two.lists.create(fixa('a'), NOW)
    assert.ok(created.outcome === 'created')
    assert.ok(created.list.incarnation > list.incarnation)
    await until('both agree on the store again', async () => {
      const added = await one.members.add('a', customer(3), {}, NOW)
      assert.ok('token' in added)
      two.checks.readToken(added.token)
      return true
    })
    assert.equal(await holds(two, 'a', customer(1)), false)
    assert.equal(await holds(two, 'a', customer(3)), true)
  })
})

describe('health of Redis', () => {
  it('tells of the servers', async () => {
    const engine = await open()
    assert.deepEqual(
      engine.warnings.map((warning) => /append-only file/.test(warning)),
      [true],
    )
    const { topology, nodes, warnings } = await engine.health()
    assert.equal(topology, 'single')
    const [node] = nodes as { role: string; version: string; maxmemoryPolicy: string }[]
    assert.deepEqual([node?.role, node?.maxmemoryPolicy], ['master', 'noeviction'])
    assert.match(node!.version, /^7\./)
    assert.deepEqual(warnings, engine.warnings)
    await raw('CONFIG', 'SET', 'appendonly', 'yes')
    try {
      assert.deepEqual((await open()).warnings, [])
      assert.equal((await engine.health()).warnings, undefined)
    } finally {
      await raw('CONFIG', 'SET', 'appendonly', 'no')
    }
  })

  it('warns of a server that may drop what guards know', async () => {
    await raw('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru')
    try {
      const engine = await open()
      assert.match(engine.warnings[0]!, /allkeys-lru.*noeviction/)
      assert.deepEqual((await engine.health()).warnings, engine.warnings)
    } finally {
      await raw('CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
    }
  })

  it('rejects when the store does not answer', async () => {
    const engine = await open({ commandTimeoutMs: 200 })
    server().pause()
    try {
      await assert.rejects(engine.health(), unavailable)
    } finally {
      server().resume()
    }
  })
})
