import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, it } from 'node:test'
import { open } from 'lmdb'
import {
  allMembers,
  countOf,
  customer,
  holds,
  NOW,
  newFixa,
  sweepAll,
} from '../../../src/conformance/support.js'
import { type CatracaError, type ErrorCode, isCatracaError } from '../../../src/core/errors.js'
import { diagnoseEmbedded } from '../../../src/engines/embedded/diagnose/index.js'
import { openEmbedded } from '../../../src/engines/embedded/index.js'
import { inspectDataFile } from '../../../src/engines/embedded/lmdb/data-file.js'
import { storeError } from '../../../src/engines/embedded/lmdb/failures.js'
import { mainDirectory } from '../../../src/engines/embedded/lmdb/store-directory.js'
import type { Admitted } from '../../../src/guards/rate-limit/types.js'
import { openPatiently, PATIENCE_MS } from '../../support/patient.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { withoutRootRights } from '../../support/without-root-rights.js'

const refuses = (directory: string, code: ErrorCode, says: RegExp): void => {
  assert.throws(
    () => openEmbedded({ directory }),
    (error) => isCatracaError(error, code) && says.test(error.message),
  )
}

async function filledStore(customers: number): Promise<string> {
  const directory = temporaryDirectory()
  const engine = openEmbedded({ directory })
  await newFixa(engine.allowlists, 'a')
  const adds = Array.from({ length: customers }, (_, i) =>
    engine.allowlists.members.add('a', customer(i), {}, NOW),
  )
  await Promise.all(adds)
  await engine.close()
  return directory
}

describe('embedded store that cannot be opened', () => {
  it('is not a store', () => {
    const directory = temporaryDirectory()
    writeFileSync(join(directory, 'data.mdb'), 'x'.repeat(20_000))
    refuses(directory, 'STORE_CORRUPT', /data\.mdb/)
  })

  it('was cut short', async () => {
    const directory = await filledStore(500)
    const file = join(mainDirectory(directory), 'data.mdb')
    truncateSync(file, Math.floor(statSync(file).size / 2))
    refuses(directory, 'STORE_CORRUPT', /cut short/)
  })

  it('is whole without pages at its end that were counted and never written, and no further', async () => {
    const file = join(mainDirectory(await filledStore(500)), 'data.mdb')
    const { size } = statSync(file)
    truncateSync(file, size - 4096)
    inspectDataFile(file)
    truncateSync(file, size - 9 * 4096)
    assert.throws(() => inspectDataFile(file), /cut short/)
  })

  it('lost its first pages', async () => {
    const directory = await filledStore(10)
    const file = join(mainDirectory(directory), 'data.mdb')
    const size = statSync(file).size
    truncateSync(file, 0)
    truncateSync(file, size)
    refuses(directory, 'STORE_CORRUPT', /not a store/)
  })

  it('was written by a newer version', async () => {
    const directory = await filledStore(1)
    const root = open({ path: mainDirectory(directory), maxDbs: 32 })
    await root.openDB('settings', { encoding: 'string' }).put('format', '999')
    await root.close()
    refuses(directory, 'STORE_NEWER_VERSION', /format 999/)
  })

  it('is a file, or below one', () => {
    const file = join(temporaryDirectory(), 'file')
    writeFileSync(file, '')
    refuses(file, 'STORE_UNUSABLE', /file/)
    refuses(join(file, 'below'), 'STORE_UNUSABLE', /below/)
  })

  it('may not be written', () => {
    const directory = temporaryDirectory()
    const readOnly = join(directory, 'read-only')
    mkdirSync(readOnly)
    chmodSync(directory, 0o755)
    chmodSync(readOnly, 0o555)
    const script = `
      const { openEmbedded } = await import(${engineModule('index')})
      try { openEmbedded({ directory: ${JSON.stringify(readOnly)} }) } catch (error) { console.log(error.code) }`
    const [file, args] = withoutRootRights(['--input-type=module', '-e', script])
    const { stdout, stderr } = spawnSync(file, args, { encoding: 'utf8' })
    assert.equal(stdout.trim(), 'STORE_UNUSABLE', stderr)
  })
})

describe('failures of the file system', () => {
  const codeOf = (error: unknown) => (storeError(error, 'store') as CatracaError).code

  it('have codes of their own, also where LMDB has only a text for them', () => {
    assert.equal(codeOf(Object.assign(new Error('no room'), { code: 'ENOSPC' })), 'STORE_FULL')
    assert.equal(codeOf(new Error('MDB_MAP_FULL: Environment mapsize limit reached')), 'STORE_FULL')
    // Only a part of a page was written.
    assert.equal(codeOf(new Error('Input/output error')), 'STORE_UNUSABLE')
    assert.equal(codeOf(Object.assign(new Error('disk'), { code: 'EIO' })), 'STORE_UNUSABLE')
  })
})

describe('embedded store that is full', () => {
  it('refuses writes at its size limit, and goes on reading', async () => {
    const engine = openEmbedded({ maxSizeBytes: 1024 * 1024, writeTimeoutMs: PATIENCE_MS })
    await newFixa(engine.allowlists, 'a')
    const metadata = { text: 'x'.repeat(4000) }
    let acknowledged = 0
    await assert.rejects(
      async () => {
        for (; acknowledged < 2000; acknowledged++) {
          await engine.allowlists.members.add('a', customer(acknowledged), { metadata }, NOW)
        }
      },
      (error) => isCatracaError(error, 'STORE_FULL'),
    )
    assert.ok(acknowledged > 50, `${acknowledged} customers fitted`)
    assert.equal(await countOf(engine.allowlists, 'a'), acknowledged)
    assert.equal(await holds(engine.allowlists, 'a', customer(0)), true)
    await engine.close()
  })

  it('takes writes again when enough was removed, in the same file', async () => {
    const maxSizeBytes = 1024 * 1024
    const engine = openEmbedded({ maxSizeBytes, writeTimeoutMs: PATIENCE_MS })
    const { members, lists } = engine.allowlists
    const metadata = { text: 'x'.repeat(4000) }
    const fill = async (id: string): Promise<number> => {
      for (let i = 0; i < 2000; i++) {
        try {
          await members.add(id, customer(i), { metadata }, NOW)
        } catch (error) {
          assert.ok(isCatracaError(error, 'STORE_FULL'), String(error))
          return i
        }
      }
      throw new Error('it was never full')
    }
    await newFixa(engine.allowlists, 'a')
    const fitted = await fill('a')
    const { sizeBytes } = await engine.health()
    for (let round = 1; round <= 3; round++) {
      // How far the first filling went beyond the limit is by chance, so what stays must be far below it.
      for (let i = 0; i < fitted; i++) if (i % 8 !== 0) await members.remove('a', customer(i), NOW)
      await lists.update('a', { name: `round ${round}` }, NOW)
      const again = await fill('a')
      assert.ok(again > fitted / 4, `${again} of ${fitted} fitted again`)
    }
    await lists.delete('a', NOW)
    await sweepAll(engine.allowlists, NOW)
    await newFixa(engine.allowlists, 'b')
    const anew = await fill('b')
    assert.ok(anew > fitted / 3, `${anew} of ${fitted} fitted into what the list had`)
    const grown = (await engine.health()).sizeBytes
    assert.ok(grown < 2 * sizeBytes, `${grown} bytes, ${sizeBytes} when it was first full`)
    await engine.close()
  })

  it('reports a file system without room, keeps what was acknowledged and nothing by halves', () => {
    const directory = temporaryDirectory()
    const script = `
      const { openEmbedded } = await import(${engineModule('index')})
      const { newFixa, countOf, allMembers } = await import(${JSON.stringify(new URL('../../../src/conformance/support.js', import.meta.url).href)})
      const { allowlists } = openEmbedded({ directory: ${JSON.stringify(directory)} })
      await newFixa(allowlists, 'a')
      const metadata = { text: 'x'.repeat(4000) }
      let acknowledged = 0
      try { for (; acknowledged < 5000; acknowledged++) await allowlists.members.add('a', 'c' + acknowledged, { metadata }, 1) }
      catch (error) { console.log(error.code) }
      await allowlists.members.add('a', 'again', {}, 1).catch((error) => console.log(error.code))
      console.log(acknowledged > 50, await countOf(allowlists, 'a') === acknowledged, (await allMembers(allowlists, 'a', 1000)).length === acknowledged)
      process.exit(0)`
    // A limit on the size of files stands in for a full disk: the same write fails in the same place.
    const command = `trap '' XFSZ; ulimit -f 1500; exec "$0" --input-type=module -e "$1"`
    const { stdout, stderr } = spawnSync('bash', ['-c', command, process.execPath, script], {
      encoding: 'utf8',
    })
    assert.equal(stdout.trim(), 'STORE_FULL\nSTORE_UNUSABLE\ntrue true true', stderr)
    const engine = openEmbedded({ directory })
    return engine.close()
  })
})

describe('embedded store that is full, to its guards', () => {
  it('says so, and frees what it is asked to free', async (t) => {
    const directory = temporaryDirectory()
    const store = `embedded:${directory}`
    const limits = { rpm: { capacity: 5, refillPeriodSeconds: 60 } }
    const filling = await openPatiently({ store, sweepIntervalMs: 0 })
    await filling.limits.setConfig({ level: 'system', resource: 'gpt' }, { limits })
    const { leaseId } = (await filling.limits.acquire({ entity: 'ann', resource: 'gpt' })) as Admitted
    const held = await filling.locks.acquire('held', { ttlMs: 60_000 })
    await filling.allowlists.create({ id: 'a', name: 'A', type: 'FIXA' })
    await filling.allowlists.add('a', 'ann')
    await filling.keys.create({ name: 'ops', scopes: ['admin'] })
    await filling.idempotency.begin({ operation: 'PAY', key: 'k' })
    await filling.close()

    const embedded = { minFreeBytes: Number.MAX_SAFE_INTEGER }
    const full = await openPatiently({ store, embedded, sweepIntervalMs: 0 })
    t.after(() => full.close())
    const refused: [string, () => Promise<unknown>][] = [
      ['acquire', () => full.limits.acquire({ entity: 'ann', resource: 'gpt' })],
      ['lock', () => full.locks.acquire('free', { ttlMs: 1000 })],
      ['add', () => full.allowlists.add('a', 'bob')],
      ['claim', () => full.idempotency.begin({ operation: 'PAY', key: 'other' })],
    ]
    for (const [name, ask] of refused) await assert.rejects(ask(), { code: 'STORE_FULL' }, name)
    assert.ok(held.acquired)
    assert.equal(await full.locks.release('held', held.token), true)
    assert.equal((await full.limits.status('ann', 'gpt')).limits.rpm?.remaining, 4)
    assert.deepEqual(await full.limits.giveBack(leaseId), { applied: true })
    await full.limits.reset('ann', 'gpt')
    assert.equal((await full.allowlists.remove('a', 'ann')).removed, true)
    assert.equal(await full.idempotency.delete({ operation: 'PAY', key: 'k' }), true)
    await full.keys.revoke('ops')
    await full.allowlists.delete('a')
    await full.upkeep()
    assert.deepEqual((await full.allowlists.list()).items, [])
  })
})

describe('embedded store on a machine with other users', () => {
  it('is for the eyes of its owner, whatever the umask', async () => {
    const before = process.umask(0)
    try {
      const parent = temporaryDirectory()
      const directory = join(parent, 'data')
      const catraca = await openPatiently({ store: `embedded:${directory}` })
      await catraca.allowlists.create({ id: 'a', name: 'A', type: 'FIXA' })
      await catraca.limits.setConfig(
        { level: 'system', resource: 'gpt' },
        { limits: { rpm: { capacity: 5, refillPeriodSeconds: 60 } } },
      )
      await catraca.limits.acquire({ entity: 'ann', resource: 'gpt' })
      await catraca.cache.space({ name: 'x', ttlMs: 1000 }).set('a', 1)
      const paths = readdirSync(parent, { recursive: true, encoding: 'utf8' })
      for (const path of paths) {
        assert.equal(statSync(join(parent, path)).mode & 0o077, 0, path)
      }
      assert.ok(paths.filter((path) => path.endsWith('data.mdb')).length >= 3, paths.join())
      await catraca.close()
    } finally {
      process.umask(before)
    }
  })

  it('tells of one that others may read', async () => {
    const directory = await filledStore(1)
    const open = (): readonly string[] => {
      const engine = openEmbedded({ directory })
      void engine.close()
      return engine.warnings
    }
    assert.deepEqual(open(), [])
    for (const path of ['.', 'v2', 'v2/data.mdb']) chmodSync(join(directory, path), 0o755)
    assert.match(open().join(), /other users of this machine can read the store: chmod -R go-rwx/)
    const levels = async () => {
      const { findings } = await diagnoseEmbedded({ directory }, 'here')
      return findings.find(({ id }) => id === 'embedded.rights')
    }
    assert.deepEqual(
      [(await levels())?.level, (await levels())?.found],
      ['problem', 'others may read v2/data.mdb'],
    )
    chmodSync(directory, 0o700)
    assert.deepEqual([open(), (await levels())?.level], [[], 'ok'])
  })
})

describe('embedded store on a disk with little room', () => {
  it('refuses writes before the disk is full', async () => {
    const engine = openEmbedded({ minFreeBytes: Number.MAX_SAFE_INTEGER })
    await assert.rejects(newFixa(engine.allowlists, 'a'), (error) => isCatracaError(error, 'STORE_FULL'))
    assert.deepEqual(await engine.allowlists.lists.page(undefined, 10), [])
    await engine.close()
  })
})

const engineModule = (name: string): string =>
  JSON.stringify(new URL(`../../../src/engines/embedded/${name}.js`, import.meta.url).href)

/** A process that is stopped in the middle of a write transaction. */
async function stoppedHolder(directory: string): Promise<ChildProcess> {
  const script = `
    const { openStores } = await import(${engineModule('stores')})
    const { environment } = openStores({ directory: ${JSON.stringify(mainDirectory(directory))}, isShared: true, durability: 'process', minFreeBytes: 0, maxLogBytes: 1e6, gate: new SharedArrayBuffer(12) })
    environment.writeNow(() => { process.stdout.write('holding'); process.kill(process.pid, 'SIGSTOP') })
    await environment.close()`
  const holder = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(holder.stdout, 'data')
  return holder
}

describe('embedded store whose write lock is held by a process that stands still', () => {
  it('goes on answering checks, reports writes as unknown in time, and recovers', async () => {
    const directory = await filledStore(10)
    const { allowlists, close } = openEmbedded({ directory, writeTimeoutMs: 3000 })
    const holder = await stoppedHolder(directory)
    const write = allowlists.members.add('a', 'late', {}, NOW)
    assert.equal(await holds(allowlists, 'a', customer(1)), true)
    await assert.rejects(write, (error) => isCatracaError(error, 'UNKNOWN_OUTCOME'))
    holder.kill('SIGCONT')
    await once(holder, 'exit')
    assert.equal((await allowlists.members.add('a', 'later', {}, NOW)).outcome, 'added')
    assert.equal(await holds(allowlists, 'a', 'late'), true)
    await close()
  })
})

describe('embedded store that is closed while a stopped process holds its lock', () => {
  it('closes at once where nothing is being written', async () => {
    const directory = await filledStore(1)
    const engine = openEmbedded({ directory })
    const holder = await stoppedHolder(directory)
    await engine.close()
    holder.kill('SIGKILL')
  })

  it('closes after the time of a write where one waits, and leaves the lock to others', async () => {
    const directory = await filledStore(1)
    const engine = openEmbedded({ directory, writeTimeoutMs: 500 })
    const holder = await stoppedHolder(directory)
    const write = engine.allowlists.members.add('a', 'late', {}, NOW)
    const refused = assert.rejects(write, (error) => isCatracaError(error, 'UNKNOWN_OUTCOME'))
    await engine.close()
    await refused
    holder.kill('SIGCONT')
    await once(holder, 'exit')
    const other = openEmbedded({ directory })
    assert.equal((await other.allowlists.members.add('a', 'later', {}, NOW)).outcome, 'added')
    await other.close()
  })
})

describe('embedded store in a process that ends while its write waits for a stopped process', () => {
  it('lets it end', async () => {
    const directory = await filledStore(1)
    const script = `
      const { openEmbedded } = await import(${engineModule('index')})
      const { allowlists } = openEmbedded({ directory: ${JSON.stringify(directory)}, writeTimeoutMs: 500 })
      process.once('message', () =>
        allowlists.members.add('a', 'late', {}, 1).catch((error) => process.send(error.code, () => process.exit(0))))
      process.send('open')`
    const ending = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    await once(ending, 'message')
    const holder = await stoppedHolder(directory)
    const exit = once(ending, 'exit')
    ending.send('write')
    assert.deepEqual(await once(ending, 'message'), ['UNKNOWN_OUTCOME', undefined])
    await exit
    holder.kill('SIGKILL')
  })
})

describe('embedded store whose processes are killed', () => {
  /** Runs writers until `lines` acknowledgements are seen, kills them all at once, and returns what they said. */
  async function killWriters(
    directory: string,
    prefixes: string[],
    lines: number,
  ): Promise<Map<string, boolean>> {
    const script = new URL('./writer.js', import.meta.url).pathname
    const writers = prefixes.map((prefix) =>
      spawn(process.execPath, [script, directory, prefix, '8'], { stdio: ['ignore', 'pipe', 'inherit'] }),
    )
    const present = new Map<string, boolean>()
    let seen = 0
    const exits = writers.map(
      (writer) =>
        new Promise<void>((resolve) => {
          const reader = createInterface({ input: writer.stdout })
          reader.on('line', (line) => {
            const id = line.split(' ')[0]!
            if (id.startsWith('-')) present.set(id.slice(1), false)
            else present.set(id, true)
            if (++seen === lines) for (const other of writers) other.kill('SIGKILL')
          })
          reader.on('close', resolve)
        }),
    )
    await Promise.all(exits)
    return present
  }

  it('keeps every acknowledged write and right counts, with several processes on one directory', async () => {
    const directory = temporaryDirectory()
    const present = new Map<string, boolean>()
    for (let round = 0; round < 2; round++) {
      const said = await killWriters(directory, [`r${round}a-`, `r${round}b-`], 150)
      for (const [id, there] of said) present.set(id, there)
    }
    const { allowlists, close } = openEmbedded({ directory })
    await sweepAll(allowlists)
    const members = new Set(await allMembers(allowlists, 'a', 1000))
    // A removal may have been done and not yet said; an addition that was said is only gone by such a removal.
    for (const [id, there] of present) {
      const removable = Number.parseInt(id.split('-').at(-1)!, id.includes('customer') ? 10 : 16) % 5 === 4
      if (there && !removable) assert.ok(members.has(id), `${id} was acknowledged`)
      if (!there) assert.ok(!members.has(id), `${id} was removed`)
    }
    assert.equal(await countOf(allowlists, 'a'), members.size)
    for (const id of members) assert.equal((await allowlists.members.listsOf(id, undefined, 5)).length, 1, id)
    await close()
  })

  it('survives the copy of a data file that is being written being opened elsewhere', async () => {
    const directory = await filledStore(100)
    const copy = temporaryDirectory()
    mkdirSync(mainDirectory(copy))
    copyFileSync(join(mainDirectory(directory), 'data.mdb'), join(mainDirectory(copy), 'data.mdb'))
    const { allowlists, close } = openEmbedded({ directory: copy })
    assert.equal(await countOf(allowlists, 'a'), 100)
    await close()
  })
})
