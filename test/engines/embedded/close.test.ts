import assert from 'node:assert/strict'
import { it } from 'node:test'
import { openEmbedded } from '../../../src/engines/embedded/index.js'
import { Environment } from '../../../src/engines/embedded/lmdb/environment.js'
import { createGate } from '../../../src/engines/embedded/lmdb/exit-gate.js'
import { openPatiently } from '../../support/patient.js'
import { temporaryDirectory } from '../../support/temporary.js'

it('an environment closes only when nothing is on its way to the disk', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  for (let round = 0; round < 5; round++) {
    const directory = temporaryDirectory()
    const limits = { minFreeBytes: 0, maxSizeBytes: Number.POSITIVE_INFINITY, maxLogBytes: 1024 }
    const environment = Environment.open({
      directory,
      isShared: true,
      gate: createGate(),
      durability: 'process',
      ...limits,
    })
    environment.writeNow(() => {
      for (let i = 0; i < 10_000; i++) environment.settings.putSync(`key-${i}`, 'x'.repeat(800))
    })
    // The sync of every second begins; closing under it has crashed the process.
    t.mock.timers.tick(1000)
    await environment.close()
  }
  assert.ok(true, 'the process is alive')
})

it('whoever waits for a lock when the store is closed is told that, in whichever moment', async () => {
  for (const waiters of [1, 12]) {
    const catraca = await openPatiently({ store: 'memory:', sweepIntervalMs: 0 })
    await catraca.locks.acquire('job', { ttlMs: 60_000 })
    const waiting = Array.from({ length: waiters }, (_, i) =>
      // Of one name they stand in line; of several each asks the store.
      catraca.locks.acquire(i % 2 === 0 ? 'job' : `job-${i}`, { ttlMs: 60_000, waitMs: 30_000 }),
    )
    const settled = Promise.allSettled(waiting)
    await catraca.close()
    const late = catraca.locks.acquire('job', { ttlMs: 1000, waitMs: 1000 })
    for (const one of [...(await settled), ...(await Promise.allSettled([late]))]) {
      // A free one may have been had before the end.
      if (one.status === 'rejected') assert.equal(one.reason.code, 'CLOSED', one.reason.message)
      else assert.ok(one.value.acquired && one.value.name !== 'job')
    }
  }
})

it('a write that comes while the thread that writes is closed is refused as such', async () => {
  const engine = openEmbedded()
  await engine.locks.acquire({ name: 'a', owner: 'ann', ttlMs: 1000, waits: false }, 0)
  const closing = engine.close()
  const asked: Promise<unknown>[] = []
  const isOver = closing.then(() => true)
  do {
    const attempt = { name: 'a', owner: 'bob', ttlMs: 1000, waits: false }
    asked.push(
      new Promise((resolve) => resolve(engine.locks.acquire(attempt, 0))).catch((error) => error.code),
    )
  } while (!(await Promise.race([isOver, new Promise((resolve) => setImmediate(resolve, false))])))
  const told = new Set((await Promise.all(asked)).map((one) => (typeof one === 'string' ? one : 'answered')))
  assert.ok(told.has('CLOSED'))
  assert.deepEqual(
    [...told].filter((one) => one !== 'CLOSED' && one !== 'answered'),
    [],
  )
})
