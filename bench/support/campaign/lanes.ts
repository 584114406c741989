import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Catraca } from '../../../src/app/open-catraca.js'
import type { CacheSpace } from '../../../src/guards/cache/space.js'
import { type Lane, LOCK_TTL_MS, nowMs, type PodPlan } from './history.js'

type Facts = Record<string, string | number | boolean>

export interface Surroundings {
  catraca: Catraca
  plan: PodPlan
  /** Which process of the pod this is: a new one after each kill. */
  life: number
  /** Tells the campaign of a call. */
  tell(lane: Lane, key: string, beganMs: number, facts: Facts): void
  /** Another pod checks the customer with this token. */
  verify(customer: string, token: string): Promise<{ allowed: boolean; degraded: boolean; failed: boolean }>
}

/** Does one piece of work of a lane. Errors are what a fault brings; they are counted by their codes. */
export type LaneWork = (turn: number) => Promise<void>

/** How many removals from the cache this process has not sent yet. */
export const owedRemovals = (catraca: Catraca): number =>
  catraca.cache.figures()[SPACE]?.secondTier.pendingRemovals ?? 0

interface Bump {
  key: string
  beganMs: number
  calledMs: number
  to: number
}

const SPACE = 'campaign'
const CUSTOMERS = 8
const KEY_MS = 250

export function lanesOf(around: Surroundings): Record<Lane, LaneWork> {
  const { catraca, plan, life, tell } = around
  const me = `${plan.pod}`
  const space = catraca.cache.space<number>({ name: SPACE, ttlMs: 60_000, jitter: 0 })
  const owed: Bump[] = []
  return {
    allowlists: (turn) => changeMember(around, turn),
    audit: async () => {},
    async limits() {
      const beganMs = nowMs()
      const answer = await catraca.limits.acquire({ entity: 'shared', resource: 'campaign' })
      tell('limits', 'shared', beganMs, { allowed: answer.allowed, degraded: answer.degraded === true })
    },
    async local() {
      const beganMs = nowMs()
      const answer = await catraca.limits.acquire({ entity: 'shared', resource: 'campaign-local' })
      const facts = { allowed: answer.allowed, degraded: answer.degraded === true }
      tell('local', `${me} ${life}`, beganMs, facts)
    },
    async idempotency() {
      const beganMs = nowMs()
      const key = `k${Math.floor(beganMs / KEY_MS)}`
      const record = { operation: 'CAMPAIGN', key }
      const begun = await catraca.idempotency.begin({ ...record, leaseMs: 3_600_000 })
      tell('idempotency', key, beganMs, { claimed: begun.outcome === 'claimed' })
      if (begun.outcome === 'claimed') await catraca.idempotency.complete(record, begun.token, { by: me })
    },
    async locks() {
      const beganMs = nowMs()
      const answer = await catraca.locks.acquire('campaign', { ttlMs: LOCK_TTL_MS })
      if (!answer.acquired) return
      const endedMs = nowMs()
      await sleep(10 + Math.random() * 60)
      const heldUntilMs = Math.min(nowMs(), beganMs + LOCK_TTL_MS)
      tell('locks', 'campaign', beganMs, { fence: answer.fence!, heldUntilMs, endedMs })
      await catraca.locks.release('campaign', answer.token)
    },
    async codes(turn) {
      const address = `c${turn}-${me}-${life}@example.com`
      const beganMs = nowMs()
      const issued = await catraca.codes.issue({ channel: 'email', address })
      if (!('code' in issued)) return
      const { code } = issued
      const tries = await Promise.allSettled(
        [1, 2, 3].map(() => catraca.codes.verify({ channel: 'email', address, code })),
      )
      const valid = tries.filter((one) => one.status === 'fulfilled' && one.value.valid).length
      tell('codes', address, beganMs, { valid })
      await sleep(150)
    },
    cache: (turn) => useCache(around, space, owed, turn),
  }
}

async function changeMember(
  { catraca, plan, life, tell, verify }: Surroundings,
  turn: number,
): Promise<void> {
  const customer = `p${plan.pod}-${turn % CUSTOMERS}`
  const isAdd = Math.random() < 0.5
  const beganMs = nowMs()
  const { token } = isAdd
    ? await catraca.allowlists.add('campaign', customer, { addedBy: `${life}-${turn}` })
    : await catraca.allowlists.remove('campaign', customer)
  tell('allowlists', customer, beganMs, { written: true, expected: isAdd })
  if (isAdd) tell('audit', customer, beganMs, { acknowledged: true })
  const [own, other] = await Promise.all([
    catraca.allowlists.check(customer, ['campaign'], { atLeast: token }).then(
      ({ overallAllowed, degraded }) => ({
        allowed: overallAllowed,
        degraded: degraded === true,
        failed: false,
      }),
      () => ({ allowed: false, degraded: false, failed: true }),
    ),
    verify(customer, token),
  ])
  for (const { allowed, degraded, failed } of [own, other]) {
    if (!failed) tell('allowlists', customer, beganMs, { verified: true, expected: isAdd, allowed, degraded })
  }
}

async function useCache(
  { catraca, plan, tell }: Surroundings,
  space: CacheSpace<number>,
  owed: Bump[],
  turn: number,
): Promise<void> {
  // From then on the removal is promised to reach all pods. A process that is killed before loses it, as declared.
  if (owedRemovals(catraca) === 0) {
    for (const { key, beganMs, calledMs, to } of owed.splice(0))
      tell('cache', key, beganMs, { bumped: true, to, calledMs })
  }
  const owner = turn % 4
  const file = join(plan.source, `version-${owner}`)
  const key = `key-${owner}`
  const load = async (): Promise<number> => {
    const version = Number(readFileSync(file, 'utf8'))
    await sleep(Math.random() * 30)
    return version
  }
  if (owner === plan.pod) {
    const to = Number(readFileSync(file, 'utf8')) + 1
    // A pod that is killed here, or a load that reads here, must not find half a file.
    writeFileSync(`${file}-new`, String(to))
    renameSync(`${file}-new`, file)
    const beganMs = nowMs()
    await space.delete(key)
    if (owedRemovals(catraca) > 0) owed.push({ key, beganMs, calledMs: nowMs(), to })
    else tell('cache', key, beganMs, { bumped: true, to })
    await sleep(100)
    return
  }
  const beganMs = nowMs()
  const { value, stale, degraded } = await space.lookOrLoad(key, load)
  tell('cache', key, beganMs, { version: value ?? 0, fresh: stale !== true && degraded !== true })
  await sleep(20)
}
