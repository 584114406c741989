import type { AcquireAnswer, CheckAnswer, HoldResult } from '../../src/index.js'

const admitted: AcquireAnswer = {
  allowed: true,
  leaseId: 'lease',
  limits: { perMinute: { limit: 100, remaining: 99, resetMs: 600 } },
  policies: { perMinute: { windowSeconds: 60, isConcurrency: false } },
}
const counted: AcquireAnswer = {
  ...admitted,
  limits: { window: { limit: 100, remaining: 99, resetMs: 600 } },
}
const allowed = { overallAllowed: true, results: [] } as unknown as CheckAnswer
const { signal } = new AbortController()
const nothing = async () => {}
const claim = {
  attempt: 1,
  context: { attempt: 1, signal },
  complete: nothing,
  fail: nothing,
  release: nothing,
}
const held = { outcome: 'held', claim } as unknown as HoldResult
const lock = { fence: 1, signal }
type Load = (key: string) => unknown
const space = {
  getOrLoad: async (key: string, load: Load) => load(key),
  get: async () => '{"value":1}',
  getMany: async () => new Map(),
}

/** An instance whose guards answer at once, so that only what stands before them is measured. */
export const catraca = {
  limits: { acquire: async () => admitted, adjust: async () => ({ applied: true }), giveBack: nothing },
  tokens: { check: async () => ({ revoked: false }) },
  allowlists: { check: async () => allowed },
  idempotency: { hold: async () => held },
  locks: { withLock: async (_: unknown, __: unknown, work: (of: typeof lock) => unknown) => work(lock) },
  cache: { space: () => space },
  close: nothing,
} as never
export const counting = { limits: { acquire: async () => counted } } as never

const guards = catraca as {
  limits: { acquire(): Promise<unknown> }
  tokens: { check(): Promise<unknown> }
  allowlists: { check(): Promise<unknown> }
}

/** What each guard is asked without an adapter. */
export const ASKED = {
  rateLimit: () => guards.limits.acquire(),
  revokedTokens: () => guards.tokens.check(),
  allow: () => guards.allowlists.check(),
  idempotency: async () => {
    await nothing()
    await nothing()
  },
  locked: () => nothing(),
  cached: () => nothing(),
}
export type Guard = keyof typeof ASKED
export const OF_REQUESTS: Guard[] = ['rateLimit', 'revokedTokens', 'allow', 'idempotency']
export const OF_METHODS: Guard[] = ['locked', 'cached']

/** Options of all adapters. */
export const OPTIONS = {
  rateLimit: { limits: { perMinute: { capacity: 100, refillPeriodSeconds: 60 } } },
  revokedTokens: { claims: () => ({ jti: 'token', sub: 'ann' }) },
  allow: { lists: ['beta'], customer: () => 'ann' },
  idempotency: { operation: 'PAY', methods: ['GET'] },
}

export type Run = () => Promise<unknown>
