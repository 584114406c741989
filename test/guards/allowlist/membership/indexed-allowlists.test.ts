import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { open } from 'lmdb'
import { type Catraca, type OpenOptions, openCatraca } from '../../../../src/app/open-catraca.js'
import { customer, customers } from '../../../../src/conformance/support.js'
import { ManualClock } from '../../../../src/core/clock.js'
import { openEmbedded } from '../../../../src/engines/embedded/index.js'
import { temporaryDirectory } from '../../../support/temporary.js'

const reported: string[] = []

/** An instance that builds only when told, so that the tests decide when. */
async function instance(directory: string, options: OpenOptions = {}): Promise<Catraca> {
  return openCatraca({
    store: `embedded:${directory}`,
    sweepIntervalMs: 0,
    onReport: (message) => reported.push(message),
    ...options,
    membership: { build: 'off', ...options.membership },
  })
}

async function* lines(ids: string[]): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`${ids.join('\n')}\n`)
}

async function filled(catraca: Catraca, id: string, ids: string[], precision: 'exact' | 'trusted' = 'exact') {
  await catraca.allowlists.create({ id, name: id, type: 'FIXA', precision })
  await catraca.allowlists.import(id, lines(ids), { format: 'text' })
  await catraca.allowlists.rebuild(id)
}

const reason = async (catraca: Catraca, id: string, list = 'a') =>
  (await catraca.allowlists.check(id, [list])).results[0]!.reason

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let i = 0; !(await holds()); i++) {
    assert.ok(i < 1000, what)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

describe('checks with the index', () => {
  it('answer non-members, and members of trusted lists, without the store', async () => {
    const catraca = await instance(temporaryDirectory())
    await filled(catraca, 'a', customers(0, 2000))
    await filled(catraca, 't', customers(0, 2000), 'trusted')
    const before = catraca.stats().checks
    for (let i = 2000; i < 4000; i++) assert.equal(await reason(catraca, customer(i)), 'NOT_MEMBER')
    for (let i = 0; i < 4000; i++) {
      assert.equal(await reason(catraca, customer(i), 't'), i < 2000 ? 'MEMBER' : 'NOT_MEMBER')
    }
    const { checks } = catraca.stats()
    assert.equal(checks.store, before.store)
    assert.ok(checks.confirmed - before.confirmed <= 2, 'false positives of 16 bits are rare')
    assert.equal(checks.trusted, 2000)
    await catraca.close()
  })

  it('confirm members of exact lists in the store, once per minute', async () => {
    const clock = new ManualClock(Date.now())
    const catraca = await instance(temporaryDirectory(), { clock })
    await filled(catraca, 'a', customers(0, 100))
    const confirmed = () => catraca.stats().checks.confirmed
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < 100; i++) assert.equal(await reason(catraca, customer(i)), 'MEMBER')
    }
    assert.equal(confirmed(), 100)
    clock.advance(60_000)
    assert.equal(await reason(catraca, customer(0)), 'MEMBER')
    assert.equal(confirmed(), 101)
    await catraca.close()
  })

  it('never answer from a cache what a removal has changed, also by another instance', async () => {
    const directory = temporaryDirectory()
    const one = await instance(directory)
    await filled(one, 'a', customers(0, 50))
    const two = await instance(directory)
    await two.allowlists.rebuild('a')
    for (let i = 0; i < 50; i++) {
      assert.equal(await reason(one, customer(i)), 'MEMBER')
      assert.equal(await reason(two, customer(i)), 'MEMBER')
      const { token } = await (i % 2 === 0 ? one : two).allowlists.remove('a', customer(i))
      for (const catraca of [one, two]) {
        const { results } = await catraca.allowlists.check(customer(i), ['a'], { atLeast: token })
        assert.equal(results[0]!.reason, 'NOT_MEMBER')
      }
    }
    await one.close()
    await two.close()
  })

  it('see what another process wrote within a turn of the event loop', async () => {
    const directory = temporaryDirectory()
    const one = await instance(directory)
    await filled(one, 'a', customers(0, 10))
    const script = `
      const { openCatraca } = await import(${JSON.stringify(new URL('../../../../src/app/open-catraca.js', import.meta.url).href)})
      const catraca = await openCatraca({ store: 'embedded:${directory}', membership: { build: 'off' } })
      await catraca.allowlists.add('a', 'from-elsewhere')
      await catraca.allowlists.remove('a', ${JSON.stringify(customer(1))})
      await catraca.close()`
    const other = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'inherit' })
    await new Promise((resolve) => other.once('exit', resolve))
    const { store } = one.stats().checks
    assert.equal(await reason(one, 'from-elsewhere'), 'MEMBER')
    assert.equal(await reason(one, customer(1)), 'NOT_MEMBER')
    assert.equal(one.stats().checks.store, store, 'from memory')
    await one.close()
  })

  it('give the same answers as a plain set, whatever happens', async () => {
    const directory = temporaryDirectory()
    const instances = [await instance(directory), await instance(directory)]
    let lists = 0
    const id = fc.integer({ min: 0, max: 40 }).map(customer)
    const step = fc.oneof(
      { weight: 8, arbitrary: fc.record({ do: fc.constant('add' as const), id, on: fc.nat(1) }) },
      { weight: 8, arbitrary: fc.record({ do: fc.constant('remove' as const), id, on: fc.nat(1) }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('build' as const), on: fc.nat(1) }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('reopen' as const), on: fc.nat(1) }) },
      {
        weight: 1,
        arbitrary: fc.record({ do: fc.constant('import' as const), ids: fc.array(id), on: fc.nat(1) }),
      },
      {
        weight: 1,
        arbitrary: fc.record({ do: fc.constant('replace' as const), ids: fc.array(id), on: fc.nat(1) }),
      },
    )
    const scenario = fc.record({
      trusted: fc.boolean(),
      steps: fc.array(step, { minLength: 5, maxLength: 14 }),
    })
    await fc.assert(
      fc.asyncProperty(scenario, async ({ trusted, steps }) => {
        const list = `list-${lists++}`
        await filled(instances[0]!, list, customers(0, 20), trusted ? 'trusted' : 'exact')
        const model = new Set(customers(0, 20))
        for (const one of steps) {
          const { allowlists } = instances[one.on]!
          if (one.do === 'add') await allowlists.add(list, one.id).then(() => model.add(one.id))
          else if (one.do === 'remove') await allowlists.remove(list, one.id).then(() => model.delete(one.id))
          else if (one.do === 'build') await allowlists.rebuild(list)
          else if (one.do === 'reopen') {
            await instances[one.on]!.close()
            instances[one.on] = await instance(directory)
            await instances[one.on]!.ready
          } else {
            await allowlists.import(list, lines(one.ids), {
              format: 'text',
              mode: one.do === 'import' ? 'add' : 'replace',
            })
            if (one.do === 'replace') model.clear()
            for (const added of one.ids) model.add(added)
          }
          await new Promise((resolve) => setTimeout(resolve, 2))
          for (const catraca of instances) {
            for (let i = 0; i <= 40; i++) {
              assert.equal(
                await reason(catraca, customer(i), list),
                model.has(customer(i)) ? 'MEMBER' : 'NOT_MEMBER',
              )
            }
          }
        }
      }),
      { numRuns: 8 },
    )
    for (const catraca of instances) await catraca.close()
  })
})

describe('the index of a list', () => {
  it('is built by itself when the list is asked about, and again when much has changed', async () => {
    const catraca = await instance(temporaryDirectory(), {
      membership: { build: 'auto', rebuildAtLeast: 20 },
    })
    await catraca.allowlists.create({ id: 'a', name: 'a', type: 'FIXA' })
    await catraca.allowlists.add('a', customer(0))
    assert.equal(await reason(catraca, customer(0)), 'MEMBER')
    await until('built', async () => (await catraca.allowlists.index('a')).state === 'loaded')
    const first = (await catraca.allowlists.index('a')).lastBuild!.at
    for (let i = 1; i <= 25; i++) await catraca.allowlists.add('a', customer(i))
    await reason(catraca, customer(0))
    await until('built again', async () => {
      await reason(catraca, customer(0))
      const index = await catraca.allowlists.index('a')
      return index.lastBuild!.at !== first && index.state === 'loaded' && index.overlaySize < 20
    })
    for (let i = 0; i <= 25; i++) assert.equal(await reason(catraca, customer(i)), 'MEMBER')
    await catraca.close()
  })

  it('rebuilds only the pages that changes touched', async () => {
    const directory = temporaryDirectory()
    const catraca = await instance(directory, {
      membership: { build: 'auto', rebuildAtLeast: 0, rebuildShare: 0 },
    })
    await catraca.allowlists.create({ id: 'a', name: 'a', type: 'FIXA' })
    const ids = Array.from({ length: 200_000 }, (_, i) => customer(3 * i + 1))
    await catraca.allowlists.import('a', lines(ids), { format: 'text' })
    await catraca.allowlists.rebuild('a')
    assert.equal((await catraca.allowlists.index('a')).pages, 2)
    await catraca.allowlists.add('a', 'one-more')
    await until('one page rebuilt', async () => {
      await reason(catraca, 'one-more')
      return (await catraca.allowlists.index('a')).lastBuild!.rebuiltPages === 1
    })
    assert.equal(await reason(catraca, 'one-more'), 'MEMBER')
    for (let i = 0; i < ids.length; i += 997) assert.equal(await reason(catraca, ids[i]!), 'MEMBER')
    await catraca.close()
  })

  it('that is damaged in the store is noticed, never answers, and is built anew', async () => {
    const directory = temporaryDirectory()
    const first = await instance(directory)
    await filled(first, 'a', customers(0, 500))
    await first.close()
    const root = open({ path: `${directory}/v2`, maxDbs: 32 })
    const pages = root.openDB<Buffer, Uint8Array>('pages', { encoding: 'binary', keyEncoding: 'binary' })
    for (const { key, value } of Array.from(pages.getRange({ start: Uint8Array.of(0) }))) {
      value[100]! ^= 1
      await pages.put(key, value)
    }
    await root.close()
    reported.length = 0
    const catraca = await instance(directory, { membership: { build: 'auto' } })
    for (let i = 0; i < 500; i++) assert.equal(await reason(catraca, customer(i)), 'MEMBER')
    await until('built anew', async () => (await catraca.allowlists.index('a')).state === 'loaded')
    assert.ok(reported.some((message) => /damaged/.test(message)))
    for (let i = 0; i < 500; i++) assert.equal(await reason(catraca, customer(i)), 'MEMBER')
    assert.equal(await reason(catraca, 'nobody'), 'NOT_MEMBER')
    await catraca.close()
  })

  it('whose log was cut is loaded anew, and right all the time', async () => {
    const directory = temporaryDirectory()
    const embedded = { maxLogBytes: 200 }
    const one = await instance(directory, { embedded })
    await filled(one, 'a', customers(0, 100))
    const two = await instance(directory, { embedded, membership: { build: 'auto' } })
    await two.allowlists.rebuild('a')
    assert.equal((await two.allowlists.index('a')).state, 'loaded')
    for (let i = 100; i < 150; i++) await one.allowlists.add('a', customer(i))
    await new Promise((resolve) => setTimeout(resolve, 2))
    for (let i = 0; i < 200; i++)
      assert.equal(await reason(two, customer(i)), i < 150 ? 'MEMBER' : 'NOT_MEMBER')
    await until('loaded again', async () => {
      await reason(two, customer(0))
      return (await two.allowlists.index('a')).state === 'loaded'
    })
    for (let i = 0; i < 200; i++)
      assert.equal(await reason(two, customer(i)), i < 150 ? 'MEMBER' : 'NOT_MEMBER')
    await one.close()
    await two.close()
  })

  it('is dropped when memory runs short, least recently used first, and comes back', async () => {
    const catraca = await instance(temporaryDirectory(), { membership: { maxBytes: 20_000 } })
    for (const id of ['a', 'b', 'c']) await filled(catraca, id, customers(0, 2500))
    const states = async () =>
      Promise.all(['a', 'b', 'c'].map(async (id) => (await catraca.allowlists.index(id)).state))
    assert.deepEqual(await states(), ['absent', 'loaded', 'loaded'])
    await reason(catraca, customer(1), 'b')
    assert.equal(await reason(catraca, customer(1), 'a'), 'MEMBER')
    await until('a is back', async () => {
      await reason(catraca, customer(1), 'a')
      return (await states())[0] === 'loaded'
    })
    assert.deepEqual(await states(), ['loaded', 'loaded', 'absent'])
    for (const id of ['a', 'b', 'c']) assert.equal(await reason(catraca, 'nobody', id), 'NOT_MEMBER')
    await catraca.close()
  })

  it('is in memory before a new process says that it is ready', async () => {
    const directory = temporaryDirectory()
    const before = await instance(directory)
    await filled(before, 'a', customers(0, 100))
    await filled(before, 'unused', customers(0, 100))
    for (let i = 0; i < 10; i++) await reason(before, customer(i))
    await before.close()
    const after = await instance(directory)
    await after.ready
    assert.equal(await reason(after, 'nobody'), 'NOT_MEMBER')
    assert.deepEqual(after.stats().checks, { filtered: 1, overlay: 0, trusted: 0, confirmed: 0, store: 0 })
    assert.equal((await after.allowlists.index('unused')).state, 'absent')
    await after.close()
  })

  it('survives the death of its builder', async () => {
    const directory = temporaryDirectory()
    const catraca = await instance(directory)
    await filled(catraca, 'a', customers(0, 1000))
    const { incarnation } = await openList(directory)
    const list = { id: 'a', incarnation }
    const script = `
      const { openEmbedded } = await import(${JSON.stringify(new URL('../../../../src/engines/embedded/index.js', import.meta.url).href)})
      const { index } = openEmbedded({ directory: ${JSON.stringify(directory)}, writes: 'here' }).allowlists
      await index.claim(${JSON.stringify(list)}, 'dies', 1500, Date.now())
      await index.putPage(${JSON.stringify(list)}, 'dies', 'half-done', new Uint8Array(1000))
      process.kill(process.pid, 'SIGKILL')`
    const builder = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'inherit' })
    await new Promise((resolve) => builder.once('exit', resolve))
    assert.equal(await reason(catraca, customer(1)), 'MEMBER')
    assert.equal((await catraca.allowlists.index('a')).state, 'loaded', 'the old snapshot goes on')
    await catraca.allowlists.rebuild('a')
    assert.equal((await catraca.allowlists.index('a')).state, 'loaded')
    const later = openEmbedded({ directory })
    assert.equal(await later.allowlists.index.page(list, 'half-done'), undefined)
    await later.close()
    await catraca.close()
  })
})

describe('indexes that come and go', () => {
  it('are not built again and again for a list that is gone', async () => {
    const directory = temporaryDirectory()
    const catraca = await instance(directory, { membership: { build: 'auto' } })
    await filled(catraca, 'a', customers(0, 10))
    const gone = catraca.allowlists.rebuild('a')
    await catraca.allowlists.delete('a')
    await catraca.upkeep()
    await gone.catch(() => {})
    await catraca.allowlists.create({ id: 'a', name: 'again', type: 'FIXA' })
    assert.equal(await reason(catraca, customer(1)), 'NOT_MEMBER')
    await until('the new list has an index', async () => {
      await reason(catraca, customer(1))
      return (await catraca.allowlists.index('a')).state === 'loaded'
    })
    assert.equal((await catraca.allowlists.index('a')).customers, 0)
    await catraca.close()
  })

  it('keep the most used lists when memory is too small for all at the start', async () => {
    const directory = temporaryDirectory()
    const before = await instance(directory)
    for (const [i, id] of ['hot', 'mid', 'cold'].entries()) {
      await filled(before, id, customers(0, 2500))
      for (let n = 0; n < 30 - 10 * i; n++) await reason(before, 'nobody', id)
    }
    await before.close()
    const after = await instance(directory, { membership: { maxBytes: 20_000 } })
    await after.ready
    const state = async (id: string) => (await after.allowlists.index(id)).state
    assert.deepEqual(
      [await state('hot'), await state('mid'), await state('cold')],
      ['loaded', 'loaded', 'absent'],
    )
    await after.close()
  })

  it('let go of an image that has fallen too far behind its snapshot', async () => {
    const catraca = await instance(temporaryDirectory(), { membership: { maxOverlay: 50 } })
    await filled(catraca, 'a', customers(0, 100))
    for (let i = 100; i < 200; i++) await catraca.allowlists.add('a', customer(i))
    for (let i = 0; i < 250; i++)
      assert.equal(await reason(catraca, customer(i)), i < 200 ? 'MEMBER' : 'NOT_MEMBER')
    assert.equal((await catraca.allowlists.index('a')).state, 'absent')
    await catraca.allowlists.rebuild('a')
    assert.equal((await catraca.allowlists.index('a')).state, 'loaded')
    await catraca.close()
  })
})

async function openList(directory: string) {
  const engine = openEmbedded({ directory })
  const list = (await engine.allowlists.lists.get('a'))!
  await engine.close()
  return list
}
