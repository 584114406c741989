/** Another process at the commit lock of a directory: `commit-lock-process.js DIRECTORY WORK TIMES`. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CommitLock } from '../../src/engines/embedded/lmdb/commit-lock.js'

const [directory, work, times] = process.argv.slice(2) as [string, string, string]
const open = () => CommitLock.open(directory, 10_000)
const tell = (): void => void process.send!('there')
const told = () => new Promise((resolve) => process.once('message', resolve))
const file = join(directory, 'counter')

if (work === 'count') {
  const lock = open()
  for (let i = 0; i < Number(times); i++)
    lock.hold(() => writeFileSync(file, String(Number(readFileSync(file, 'utf8')) + 1)))
  await lock.close()
} else if (work === 'open and close') {
  for (let i = 0; i < Number(times); i++) await open().close()
} else if (work === 'open') {
  const lock = open()
  tell()
  await told()
  await lock.close()
} else {
  const lock = open()
  // Nothing is sent or received from within, so files say that the lock is held and when to give it back.
  lock.hold(() => {
    writeFileSync(join(directory, 'held'), '')
    while (!existsSync(join(directory, 'give-back')))
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
  })
  await lock.close()
}
process.disconnect()
