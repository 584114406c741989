// A job that every pod starts at the same time, and one of them does. What it writes carries the fence of its lock, so that
// a pod that was suspended in the middle cannot write over the work of its successor.
//
// Two things are needed. The lock keeps two pods from working at once. The record of the run keeps the job from being done
// again by a pod that comes later, when the lock is free.
import { isCatracaError, manualClock, openCatraca } from 'catraca'

// Programs leave the clock out. Here it is moved by hand, so that nobody has to wait for a day.
const clock = manualClock('2030-01-01T03:00:00Z')
const catraca = await openCatraca({ store: 'memory:', clock })
const ledger = { fence: 0, closed: [] }

/** A store that takes fences: it refuses what an older holder writes. */
function write(fence, day) {
  if (fence < ledger.fence) throw new Error('a newer holder was here')
  ledger.fence = fence
  ledger.closed.push(day)
}

async function closeTheDay(pod) {
  const day = new Date(clock.now()).toISOString().slice(0, 10)
  try {
    // It is renewed while the work runs. A pod that dies gives it up after 30 s.
    return await catraca.locks.withLock(
      'close-day',
      { ttlMs: 30_000, waitMs: 0 },
      async ({ fence, signal }) => {
        const run = { operation: 'CLOSE-DAY', key: day, expirySeconds: 7 * 24 * 3600 }
        const { outcome } = await catraca.idempotency.run(run, async () => {
          // Long work asks now and then whether it still holds the lock.
          signal.throwIfAborted()
          write(fence, day)
        })
        return `${pod}: ${outcome === 'executed' ? `closed ${day}` : `${day} is closed already`}`
      },
    )
  } catch (error) {
    if (isCatracaError(error, 'LOCK_HELD')) return `${pod}: somebody else is at it`
    throw error
  }
}

const night = await Promise.all(['pod-1', 'pod-2', 'pod-3'].map(closeTheDay))
console.log(night.filter((told) => told.includes('closed 2030')).length, 'pod did the work')
console.log(await closeTheDay('pod-4'))
clock.advance(24 * 3600 * 1000)
console.log(await closeTheDay('pod-1'))
console.log(`closed: ${ledger.closed.join(', ')}`)
await catraca.close()
