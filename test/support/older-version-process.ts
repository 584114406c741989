/**
 * Opens a data directory as version 0.1.0 does, writes to it until it is told to end, and says how often it could; or,
 * with a second argument, opens and closes it as this version does.
 */
import { open } from 'lmdb'
import { openEmbedded } from '../../src/engines/embedded/index.js'

const [directory, isThisVersion] = process.argv.slice(2) as [string, string?]
if (isThisVersion !== undefined) await openEmbedded({ directory }).close()
else {
  const root = open({
    path: directory,
    maxDbs: 64,
    maxReaders: 1024,
    noSubdir: false,
    overlappingSync: false,
  })
  const uses = root.openDB('uses', { encoding: 'string' })
  let count = 0
  const timer = setInterval(() => {
    root.transactionSync(() => uses.putSync('a', String(++count)))
  }, 5)
  process.send!('open')
  process.once('message', async () => {
    clearInterval(timer)
    await root.close()
    process.send!(count, () => process.disconnect())
  })
}
if (isThisVersion !== undefined) process.disconnect()
