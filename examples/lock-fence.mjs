// @ts-check
// A lock with a fence: a holder that was away for too long is refused by what was locked. Run: node examples/lock-fence.mjs
import { ManualClock, openCatraca } from 'catraca'

// Two services on one store. Time is moved by hand, so that every run prints the same.
const clock = new ManualClock(Date.UTC(2030, 0, 1))
const catraca = await openCatraca({ store: 'memory:', clock })
const { locks } = catraca

/** What is locked: it remembers the newest fence, and refuses older ones. */
const claim = { status: 'OPEN', fence: 0 }

/**
 * In a database: UPDATE … SET status = :status, fence = :fence WHERE id = :id AND fence <= :fence
 * @param {string} status
 * @param {number} fence
 */
function write(status, fence) {
  if (fence < claim.fence) return `refused ${status}: a newer holder was here`
  claim.status = status
  claim.fence = fence
  return `wrote ${status}`
}

const slow = await locks.acquire('claim:abc', { ttlMs: 30_000 })
const early = await locks.acquire('claim:abc')
console.log(`somebody else meanwhile: ${early.acquired ? 'acquired' : 'held'}`)

// The first holder is stopped for a minute, and does not know it.
clock.advance(60_000)
const quick = await locks.acquire('claim:abc', { ttlMs: 30_000 })
if (!slow.acquired || !quick.acquired) throw new Error('both were to have it, one after the other')
console.log(`the second fence is higher: ${Number(quick.fence) > Number(slow.fence)}`)
console.log(`second: ${write('CONFIRMED', Number(quick.fence))}`)
console.log(`first, too late: ${write('CANCELLED', Number(slow.fence))}`)
console.log(`the claim is ${claim.status}`)
console.log(`first gives back: ${await locks.release('claim:abc', slow.token)}`)
await locks.release('claim:abc', quick.token)

const result = await locks.withLock(['claim:abc', 'account:7'], {}, async ({ fenceOf, isHeld }) => {
  return `${isHeld() ? 'both' : 'none'} held, ${write('SETTLED', Number(fenceOf('claim:abc')))}`
})
console.log(result)
await catraca.close()
