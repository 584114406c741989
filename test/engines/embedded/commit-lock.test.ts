import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { isCatracaError } from '../../../src/core/errors.js'
import { CommitLock, lockOptions } from '../../../src/engines/embedded/lmdb/commit-lock.js'
import { refuseNetworkFileSystem } from '../../../src/engines/embedded/lmdb/file-system.js'
import { openLmdb } from '../../../src/engines/embedded/lmdb/open-lmdb.js'
import { temporaryDirectory } from '../../support/temporary.js'

const PROGRAM = fileURLToPath(new URL('../../support/commit-lock-process.js', import.meta.url))

type Work = 'count' | 'hold' | 'open' | 'open and close'

function start(t: TestContext, directory: string, work: Work, times = 1): ChildProcess {
  const child = fork(PROGRAM, [directory, work, String(times)], { execArgv: [] })
  t.after(() => void child.kill('SIGKILL'))
  return child
}

async function ended(child: ChildProcess): Promise<number | null> {
  const [code] = await once(child, 'exit')
  return code as number | null
}

/** A process inside the lock. */
async function holding(t: TestContext, directory: string): Promise<ChildProcess> {
  const child = start(t, directory, 'hold')
  while (!existsSync(join(directory, 'held'))) await setTimeout(5)
  return child
}

async function stop(child: ChildProcess): Promise<void> {
  child.kill('SIGSTOP')
  while (!/^[Tt]/.test(stateOf(child.pid!))) await setTimeout(5)
}

const stateOf = (pid: number): string => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!

async function goOn(child: ChildProcess): Promise<void> {
  const end = ended(child)
  child.kill('SIGCONT')
  assert.equal(await end, 0)
}

describe('the commit lock', () => {
  it('lets one process at a time in', async (t) => {
    const directory = temporaryDirectory()
    const file = join(directory, 'counter')
    writeFileSync(file, '0')
    const children = [0, 1, 2].map(() => start(t, directory, 'count', 400))
    assert.deepEqual(await Promise.all(children.map(ended)), [0, 0, 0])
    assert.equal(readFileSync(file, 'utf8'), '1200')
  })

  it('is free again when its holder is killed', async (t) => {
    const directory = temporaryDirectory()
    const child = await holding(t, directory)
    const end = ended(child)
    child.kill('SIGKILL')
    await end
    const lock = CommitLock.open(directory, 1000)
    assert.equal(
      lock.hold(() => 'in'),
      'in',
    )
    assert.equal(nameplates(directory).length, 1, 'that of the dead process is removed')
    await lock.close()
    assert.deepEqual(nameplates(directory), [])
  })

  it('is not waited for beyond the timeout when its holder is stopped', async (t) => {
    const directory = temporaryDirectory()
    const holder = await holding(t, directory)
    await stop(holder)
    assert.throws(
      () => CommitLock.open(directory, 300),
      (error) => isCatracaError(error, 'STORE_IN_USE') && error.message.includes(String(holder.pid)),
    )
    writeFileSync(join(directory, 'give-back'), '')
    await goOn(holder)
    await CommitLock.open(directory, 300).close()
  })

  it('does not mind a stopped process that does not hold it', async (t) => {
    const directory = temporaryDirectory()
    const idle = start(t, directory, 'open')
    await once(idle, 'message')
    await stop(idle)
    await CommitLock.open(directory, 10_000).close()
    idle.send('end')
    await goOn(idle)
  })

  it('can be opened while the last process closes it, which destroys what is shared', async (t) => {
    const directory = temporaryDirectory()
    const children = [0, 1, 2].map(() => start(t, directory, 'open and close', 400))
    assert.deepEqual(await Promise.all(children.map(ended)), [0, 0, 0])
  })

  it('never commits anything, so that opening it sets nothing back', async () => {
    const directory = temporaryDirectory()
    const lock = CommitLock.open(directory, 1000)
    for (let i = 0; i < 10; i++) lock.hold(() => i)
    assert.throws(
      () =>
        lock.hold(() => {
          throw new Error('inside')
        }),
      /inside/,
    )
    await lock.close()
    const root = openLmdb(lockOptions(join(directory, 'commit-lock')))
    assert.equal((root.getStats() as { lastTxnId: number }).lastTxnId, 0)
    await root.close()
  })
})

const nameplates = (directory: string): string[] =>
  readdirSync(join(directory, 'commit-lock')).filter((name) => !name.endsWith('.mdb'))

describe('file systems', () => {
  it('that several machines share are refused by name', () => {
    for (const [type, name] of [
      [0x6969, 'NFS'],
      [0xfe534d42, 'SMB2'],
    ] as const) {
      assert.throws(
        () => refuseNetworkFileSystem('/data', type),
        (error) => isCatracaError(error, 'STORE_UNUSABLE') && error.message.includes(name),
      )
    }
    refuseNetworkFileSystem('/data', 0xef53)
  })
})
