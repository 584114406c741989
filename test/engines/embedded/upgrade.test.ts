import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  existsSync,
  linkSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { open } from 'lmdb'
import { customer, holds, NOW, newFixa } from '../../../src/conformance/support.js'
import { isCatracaError } from '../../../src/core/errors.js'
import { diagnoseEmbedded } from '../../../src/engines/embedded/diagnose/index.js'
import { openEmbedded } from '../../../src/engines/embedded/index.js'
import { mainDirectory } from '../../../src/engines/embedded/lmdb/store-directory.js'
import { foundBy } from '../../support/findings.js'
import { temporaryDirectory } from '../../support/temporary.js'

const OLDER_VERSION = fileURLToPath(new URL('../../support/older-version-process.js', import.meta.url))

/** A directory as version 0.1.0 left it: the store in `data.mdb`, and nothing of the commit lock. */
async function olderStore(): Promise<string> {
  const directory = temporaryDirectory()
  const engine = openEmbedded({ directory })
  await newFixa(engine.allowlists, 'a')
  await engine.allowlists.members.add('a', customer(1), {}, NOW)
  await engine.close()
  renameSync(join(mainDirectory(directory), 'data.mdb'), join(directory, 'data.mdb'))
  rmSync(mainDirectory(directory), { recursive: true })
  return directory
}

/** What version 0.1.0 reads before it goes on. */
async function formatForOlderVersions(directory: string): Promise<string | undefined> {
  const root = open({ path: directory, maxDbs: 64, noSubdir: false, overlappingSync: false })
  const format = root.openDB<string, string>('settings', { encoding: 'string' }).get('format')
  await root.close()
  return format
}

/** A process that has the store open as version 0.1.0 does, and counts in it until it is told to end. */
async function olderVersion(directory: string): Promise<ChildProcess> {
  const child = fork(OLDER_VERSION, [directory], { execArgv: [] })
  await once(child, 'message')
  return child
}

async function holdsCustomer(directory: string): Promise<boolean> {
  const { allowlists, close } = openEmbedded({ directory })
  const isThere = await holds(allowlists, 'a', customer(1))
  await close()
  return isThere
}

describe('a store of version 0.1.0', () => {
  it('is taken over, and that version is told to go away from then on', async () => {
    const directory = await olderStore()
    assert.equal(await formatForOlderVersions(directory), '1')
    assert.equal(await holdsCustomer(directory), true)
    assert.equal(await formatForOlderVersions(directory), '2')
    assert.equal(await holdsCustomer(directory), true)
  })

  it('is left alone while that version has it open', async () => {
    const directory = await olderStore()
    const older = await olderVersion(directory)
    assert.throws(
      () => openEmbedded({ directory }),
      (error) => isCatracaError(error, 'STORE_IN_USE') && error.message.includes(String(older.pid)),
    )
    assert.equal(existsSync(mainDirectory(directory)), false)
    older.send('end')
    const [counted] = await once(older, 'message')
    await once(older, 'exit')
    assert.ok((counted as number) > 0, 'it went on writing')
    assert.equal(await holdsCustomer(directory), true)
  })

  it('is taken over by one of several that open it at once', async () => {
    const directory = await olderStore()
    const opened = [0, 1, 2].map(() => fork(OLDER_VERSION, [directory, 'this version'], { execArgv: [] }))
    assert.deepEqual(
      await Promise.all(opened.map(async (child) => (await once(child, 'exit'))[0])),
      [0, 0, 0],
    )
    assert.equal(await holdsCustomer(directory), true)
  })

  it('is taken over by the next one when a process dies in the middle', async () => {
    const directory = await olderStore()
    await holdsCustomer(directory)
    // Between its second name and the sign.
    rmSync(join(directory, 'data.mdb'))
    linkSync(join(mainDirectory(directory), 'data.mdb'), join(directory, 'data.mdb'))
    assert.equal(await holdsCustomer(directory), true)
    assert.equal(await formatForOlderVersions(directory), '2')
    // A directory that was copied without the sign.
    rmSync(join(directory, 'data.mdb'))
    assert.equal(await holdsCustomer(directory), true)
    assert.equal(await formatForOlderVersions(directory), '2')
  })

  it('is not looked into by those who change nothing, and they say what to do', async () => {
    const directory = await olderStore()
    const { findings } = await diagnoseEmbedded({ directory }, 'here')
    assert.match(foundBy(findings, 'embedded.open'), /version 0\.1\.0/)
    assert.equal(existsSync(mainDirectory(directory)), false)
  })
})

describe('a directory of this version', () => {
  it('whose store is gone is not taken for an empty one', async () => {
    const directory = await olderStore()
    await holdsCustomer(directory)
    rmSync(join(mainDirectory(directory), 'data.mdb'))
    assert.throws(
      () => openEmbedded({ directory }),
      (error) => isCatracaError(error, 'STORE_CORRUPT') && /is missing/.test(error.message),
    )
    const { findings } = await diagnoseEmbedded({ directory }, 'here')
    assert.match(foundBy(findings, 'embedded.open'), /is missing/)
    assert.equal(statSync(join(directory, 'data.mdb')).isFile(), true)
  })

  it('into which a store of version 0.1.0 was copied is refused: nobody can tell which of the two is wanted', async () => {
    const [directory, other] = [await olderStore(), await olderStore()]
    await holdsCustomer(directory)
    copyFileSync(join(other, 'data.mdb'), join(directory, 'copy'))
    renameSync(join(directory, 'copy'), join(directory, 'data.mdb'))
    assert.throws(
      () => openEmbedded({ directory }),
      (error) => isCatracaError(error, 'STORE_CORRUPT') && /two stores/.test(error.message),
    )
  })

  it('with an empty data.mdb, as a process leaves it that died at once, is new', async () => {
    const directory = temporaryDirectory()
    writeFileSync(join(directory, 'data.mdb'), '')
    const engine = openEmbedded({ directory })
    await newFixa(engine.allowlists, 'a')
    await engine.close()
    assert.equal(await formatForOlderVersions(directory), '2')
  })

  it('that cannot be opened is left without a trace of who tried', async () => {
    const directory = await olderStore()
    await holdsCustomer(directory)
    rmSync(join(mainDirectory(directory), 'data.mdb'))
    for (let i = 0; i < 3; i++) assert.throws(() => openEmbedded({ directory }))
    const left = readdirSync(mainDirectory(directory), { recursive: true, encoding: 'utf8' })
    assert.deepEqual(
      left.filter((name) => /-open-|draft-/.test(name)),
      [],
    )
  })
})
