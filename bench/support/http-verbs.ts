import type { Catraca } from '../../src/app/open-catraca.js'
import { isPromise } from '../../src/core/maybe-promise.js'

export const BENCH_KEY = 'ctr_of-the-bench'

/** A request without its headers. */
export interface VerbRequest {
  method: string
  path: string
  body?: unknown
}

/** One hot verb: as a request, and as the call of the library that the request makes. `made` is what `prepare` returned. */
interface Verb {
  prepare?: (catraca: Catraca, i: number) => Promise<unknown>
  request: (i: number, made: string) => VerbRequest
  call: (catraca: Catraca, i: number, made: string) => unknown
}

const LISTS = ['vip', 'wave']
const post = (path: string, body: unknown): VerbRequest => ({ method: 'POST', path, body })
const limited = (i: number) => ({ entity: `e${i % 1000}`, resource: 'api' })
const payload = { amount: 1250, currency: 'EUR', to: 'account-17' }
const answer = { paid: true, receipt: 'r-000000000017', at: '2026-01-01T00:00:00.000Z' }
const cached = { name: 'Ana Souza', plan: 'gold', since: '2021-04-01', flags: [1, 2, 3] }
const TTL_MS = 600_000
const record = (i: number) => ({ operation: 'pay', key: `k${i}` })
const jti = (i: number): string => `jti-${i % 1000}`

const leaseOf = async (catraca: Catraca, i: number): Promise<string> => {
  const taken = await catraca.limits.acquire(limited(i))
  return (taken as { leaseId: string }).leaseId
}

export const VERBS: Record<string, Verb> = {
  check: {
    request: (i) => ({ method: 'GET', path: `/customers/c${i % 2000}/check?allowlists=vip,wave` }),
    call: ({ allowlists }, i) => allowlists.checkNow(`c${i % 2000}`, LISTS),
  },
  'check, encoded': {
    request: (i) => ({ method: 'GET', path: `/customers/c${i % 2000}/check?allowlists=vip%2Cwave` }),
    call: ({ allowlists }, i) => allowlists.check(`c${i % 2000}`, LISTS, {}),
  },
  'check of ten customers': {
    request: (i) => post('/check', { customerIds: ten(i), allowlists: LISTS }),
    call: ({ allowlists }, i) => allowlists.checkMany({ customerIds: ten(i), allowlists: LISTS }),
  },
  acquire: {
    request: (i) => post('/limits/acquire', limited(i)),
    call: ({ limits }, i) => limits.acquire(limited(i)),
  },
  adjust: {
    prepare: leaseOf,
    request: (_, lease) => post(`/leases/${lease}/adjust`, { delta: { rpm: 1 } }),
    call: ({ limits }, _, lease) => limits.adjust(lease, { rpm: 1 }),
  },
  'give back': {
    prepare: leaseOf,
    request: (_, lease) => ({ method: 'DELETE', path: `/leases/${lease}` }),
    call: ({ limits }, _, lease) => limits.giveBack(lease),
  },
  claim: {
    request: (i) => post(`/idempotency/pay/c${i}`, { payload }),
    call: ({ idempotency }, i) => idempotency.begin({ operation: 'pay', key: `c${i}`, payload }),
  },
  complete: {
    prepare: async ({ idempotency }, i) =>
      ((await idempotency.begin({ ...record(i), payload })) as { token: string }).token,
    request: (i, token) => post(`/idempotency/pay/k${i}/complete`, { token, response: answer }),
    call: ({ idempotency }, i, token) => idempotency.complete(record(i), token, answer),
  },
  lock: {
    request: (i) => post(`/locks/l${i}`, { ttlMs: TTL_MS }),
    call: ({ locks }, i) => locks.acquire(`l${i}`, { ttlMs: TTL_MS }),
  },
  release: {
    prepare: async ({ locks }, i) =>
      ((await locks.acquire(`r${i}`, { ttlMs: TTL_MS })) as { token: string }).token,
    request: (i, token) => post(`/locks/r${i}/release`, { token }),
    call: ({ locks }, i, token) => locks.release(`r${i}`, token),
  },
  'token check': {
    request: (i) => ({ method: 'GET', path: `/revoked-tokens/${jti(i)}` }),
    call: ({ tokens }, i) => tokens.check({ jti: jti(i) }),
  },
  'cache get': {
    request: (i) => ({ method: 'GET', path: `/cache/space/v${i % 1000}` }),
    call: ({ cache }, i) => cache.get('space', `v${i % 1000}`),
  },
  'cache put': {
    request: (i) => ({ method: 'PUT', path: `/cache/space/v${i % 1000}`, body: { value: cached } }),
    call: ({ cache }, i) => cache.set('space', `v${i % 1000}`, cached),
  },
}

const ten = (i: number): string[] => Array.from({ length: 10 }, (_, n) => `c${(i + n) % 2000}`)

/** What the verbs expect to find. */
export async function fill(catraca: Catraca): Promise<void> {
  await catraca.allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
  const config = { strategy: 'PERCENTAGE', percentage: 0.5 } as const
  await catraca.allowlists.create({ id: 'wave', name: 'Wave', type: 'ONDA', config })
  for (let i = 0; i < 1000; i++) await catraca.allowlists.add('vip', `c${i}`)
  const limits = { rpm: { capacity: 1_000_000, refillAmount: 1_000_000, refillPeriodSeconds: 1 } }
  await catraca.limits.setConfig({ level: 'system', resource: 'api' }, { limits })
  for (let i = 0; i < 1000; i++) await catraca.cache.set('space', `v${i}`, cached)
  await catraca.ready
}

/** Does this for each number, some at a time. */
export async function inFlight(count: number, atOnce: number, work: (i: number) => unknown): Promise<void> {
  let next = 0
  const lane = async (): Promise<void> => {
    while (next < count) {
      const done = work(next++)
      if (isPromise(done)) await done
    }
  }
  await Promise.all(Array.from({ length: atOnce }, lane))
}
