/**
 * A process that has the store open for the whole of the proof of opening. It writes members, takes from a limit, locks
 * and does requests once, one after the other in each lane, and knows what every answer must be.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { openCatraca } from '../../src/app/open-catraca.js'
import {
  type Acknowledged,
  CAPACITY,
  LIST,
  memberOf,
  OPERATION,
  openOptions,
  RESOURCE,
  type WriterPlan,
} from './open-race-plan.js'
import { demand, dieOfFailures } from './proof.js'

dieOfFailures()
const { writer, pauseMs, ...plan } = JSON.parse(process.argv[2]!) as WriterPlan
const catraca = await openCatraca(openOptions(plan))
const done: Acknowledged = { members: 0, acquired: 0, requests: 0, fence: 0 }
let isOver = false
let lastCount = 0

async function addMember(): Promise<void> {
  const { added, customerCount } = await catraca.allowlists.add(LIST, memberOf(writer, done.members))
  demand(added, `${writer}: ${done.members} was there before it was added`)
  demand(customerCount > lastCount, `${writer}: the count went from ${lastCount} to ${customerCount}`)
  lastCount = customerCount
  done.members++
}

async function acquire(): Promise<void> {
  const answer = await catraca.limits.acquire({ entity: writer, resource: RESOURCE })
  demand(answer.allowed, `${writer}: the limit is used up`)
  const expected = CAPACITY - done.acquired - 1
  const { remaining } = answer.limits.all!
  demand(remaining === expected, `${writer}: ${remaining} remain of the limit, and ${expected} should`)
  done.acquired++
}

async function lockAndUnlock(): Promise<void> {
  const lock = await catraca.locks.acquire(writer, { ttlMs: 60_000 })
  demand(lock.acquired, `${writer}: the lock is held, and was released`)
  demand(lock.fence! > done.fence, `${writer}: fence ${lock.fence} after ${done.fence}`)
  done.fence = lock.fence!
  demand(await catraca.locks.release(writer, lock.token), `${writer}: the lock was lost`)
}

async function request(): Promise<void> {
  const key = memberOf(writer, done.requests)
  let isExecuted = false
  await catraca.idempotency.run({ operation: OPERATION, key, payload: { key } }, async () => {
    isExecuted = true
    return { paid: key }
  })
  demand(isExecuted, `${writer}: ${key} had been done before`)
  done.requests++
}

async function lane(work: () => Promise<void>): Promise<void> {
  while (!isOver) {
    await work()
    if (pauseMs > 0) await sleep(pauseMs)
  }
}

process.once('message', () => {
  isOver = true
})
process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'))
process.send!({ type: 'ready' })
await Promise.all([addMember, acquire, lockAndUnlock, request].map(lane))
await catraca.close()
process.send!({ type: 'done', done }, () => process.exit(0))
