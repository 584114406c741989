// @ts-check
// Guards on an engine of your own. Run: node examples/own-engine/run.mjs
import { openCatraca } from 'catraca'
import { openMemoryLocks } from './memory-locks.mjs'

const catraca = await openCatraca({ engine: openMemoryLocks() })
const { locks } = catraca

const first = await locks.acquire('claim:abc', { ttlMs: 30_000 })
const second = await locks.acquire('claim:abc')
console.log(`at once: ${[first, second].map(({ acquired }) => (acquired ? 'acquired' : 'held')).join(', ')}`)
if (first.acquired) await locks.release('claim:abc', first.token)

const result = await locks.withLock('claim:abc', {}, async ({ isHeld }) => (isHeld() ? 'held' : 'lost'))
console.log(`while it works: ${result}`)

const { status, engines } = await catraca.health()
console.log(`health: ${status}, ${engines[0]?.name} knows ${engines[0]?.names} name`)

// The engine offers nothing but locks, so there are no limits; to ask for them is refused at the start.
console.log(`limits: ${catraca.limits === undefined ? 'absent' : 'present'}`)
await openCatraca({ engine: openMemoryLocks(), limits: { timeoutMs: 500 } }).catch((error) => {
  console.log(`${error.code}: ${error.message}`)
})

await catraca.close()
