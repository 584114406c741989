/** One process of the proof of idempotency, of which each may be killed or stopped at any time. */
import { appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { openCatraca } from '../../src/app/open-catraca.js'
import { isCatracaError } from '../../src/core/errors.js'
import type { WorkContext } from '../../src/guards/idempotency/types.js'
import type { Step } from './idempotency-model.js'
import { dieOfFailures, pick } from './proof.js'

/** Where a process kills itself; `effect`: when it is done, `recorded`: after its answer is. */
export type Death = 'claimed' | 'effect' | 'completing' | 'recorded'

export type ProcessPlan = { store: string; skewMs?: number } & (
  | {
      work: 'history'
      name: string
      log: string
      leaseMs: number
      keysPerSecond: number
      atOnce: number
      startedAt: number
    }
  | { work: 'die'; at: Death; key: string; effects: string; leaseMs: number }
  | { work: 'pause'; key: string; leaseMs: number }
  | { work: 'duplicates'; key: string; times: number; effects: string }
)

dieOfFailures()
// Work that only waits to be told to stop keeps no process alive; this one is to live.
process.on('message', () => {})
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
const plan = JSON.parse(process.argv[2]!) as ProcessPlan
const { skewMs = 0 } = plan
const catraca = await openCatraca({
  store: plan.store,
  sweepIntervalMs: 0,
  clock: { now: () => Date.now() + skewMs },
  // A busy machine is no fault of the engine's: only what dies is left unanswered.
  idempotency: { timeoutMs: 60_000 },
  membership: { maxBytes: 0, build: 'off' },
})
const { idempotency } = catraca
const operation = 'PROOF'
const killMyself = () => process.kill(process.pid, 'SIGKILL')

let steps = 0
/** Written down before it is done and after it is answered: what was killed in between is known to have begun. */
async function noted(
  log: string,
  step: Omit<Step, 'id' | 'from' | 'to' | 'answer'>,
  id: string,
  work: () => Promise<string>,
): Promise<string> {
  const begun = { ...step, id, from: Date.now() }
  appendFileSync(log, `${JSON.stringify(begun)}\n`)
  let answer: string
  try {
    answer = await work()
  } catch (error) {
    if (!isCatracaError(error, 'IDEMPOTENCY_CLAIM_LOST')) throw error
    answer = 'lost'
  }
  appendFileSync(log, `${JSON.stringify({ id, to: Date.now(), answer })}\n`)
  return answer
}

async function makeHistory(of: ProcessPlan & { work: 'history' }): Promise<void> {
  await Promise.all(Array.from({ length: of.atOnce }, () => makeRequests(of)))
}

async function makeRequests(of: ProcessPlan & { work: 'history' }): Promise<void> {
  for (;;) {
    const epoch = Math.floor(((Date.now() - of.startedAt) / 1000) * of.keysPerSecond)
    await oneRequest(of, `key-${Math.max(0, epoch - Math.floor(Math.random() * 3))}`)
    await sleep(Math.random() * 40)
  }
}

async function oneRequest({ name, log, leaseMs }: ProcessPlan & { work: 'history' }, key: string) {
  const claimId = `${name}-${++steps}`
  const hash = Math.random() < 0.9 ? 'the-request' : 'another-one'
  const takesOver = Math.random() < 0.8
  let token = ''
  const claimed = await noted(log, { key, verb: 'claim', hash, takesOver, leaseMs }, claimId, async () => {
    const onLeaseExpired = takesOver ? 'reclaim' : 'unknown'
    const begun = await idempotency.begin({ operation, key, requestHash: hash, leaseMs, onLeaseExpired })
    if (begun.outcome === 'claimed') token = begun.token
    switch (begun.outcome) {
      case 'claimed':
        return `claimed ${begun.attempt}`
      case 'replayed':
        return `replayed ${begun.value}`
      case 'refused':
        return begun.reason
      default:
        return begun.outcome
    }
  })
  if (!claimed.startsWith('claimed')) return
  for (let worked = 0; worked < 3; worked++) {
    await sleep(Math.random() * leaseMs)
    const verb = pick(['extend', 'complete', 'complete', 'fail', 'release', 'nothing'] as const)
    if (verb === 'nothing') return
    const id = `${name}-${++steps}`
    await noted(log, { key, verb, owner: claimId, leaseMs, value: claimId }, id, async () => {
      const at = { operation, key }
      if (verb === 'extend') await idempotency.extend(at, token, leaseMs)
      else if (verb === 'complete') await idempotency.complete(at, token, claimId)
      else await idempotency[verb](at, token)
      return 'done'
    })
    if (verb !== 'extend' && Math.random() < 0.7) return
  }
}

async function die({ at, key, effects, leaseMs }: ProcessPlan & { work: 'die' }): Promise<void> {
  const work = async () => {
    if (at === 'claimed') killMyself()
    appendFileSync(effects, `${key}\n`)
    if (at === 'effect') killMyself()
    return 'first'
  }
  const ofValue = () => {
    if (at === 'completing') killMyself()
    return 'complete' as const
  }
  await idempotency.run({ operation, key, payload: key, leaseMs, ending: { ofValue } }, work)
  killMyself()
  await new Promise(() => {})
}

async function pause({ key, leaseMs }: ProcessPlan & { work: 'pause' }): Promise<void> {
  let isAborted = false
  const work = async ({ signal }: WorkContext) => {
    process.send!({ type: 'working' })
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
    isAborted = true
    return 'late'
  }
  const code = await idempotency.run({ operation, key, payload: key, leaseMs }, work).then(
    ({ outcome }) => outcome,
    (error) => error.code,
  )
  process.send!({ type: 'ended', isAborted, code })
}

async function duplicates({ key, times, effects }: ProcessPlan & { work: 'duplicates' }): Promise<void> {
  const work = async () => {
    appendFileSync(effects, `${key}\n`)
    await sleep(100)
    return { by: process.pid, random: Math.random() }
  }
  const results = await Promise.all(
    Array.from({ length: times }, () =>
      idempotency.run({ operation, key, payload: key, waitMs: 60_000 }, work),
    ),
  )
  const answers = results.map((result) => JSON.stringify('value' in result ? result.value : result))
  const executed = results.filter(({ outcome }) => outcome === 'executed').length
  process.send!({ type: 'answers', answers, executed })
}

process.send!({ type: 'ready' })
if (plan.work === 'history') await makeHistory(plan)
else if (plan.work === 'die') await die(plan)
else if (plan.work === 'pause') await pause(plan)
else await duplicates(plan)
await catraca.close()
process.disconnect()
