import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type {
  CacheItem,
  CacheNotice,
  CacheStore,
  CacheValue,
  FillClaim,
  FillStart,
} from '../../guards/cache/port.js'
import { until } from '../support.js'

export const SPACE = 'dict:entry:key'
export const LIFE_MS = 60_000

/** Engines expire entries by their own clocks, so these suites run in real time, with short or long lives. */
export const now = (): number => Date.now()

export const item = (key: string, value: CacheValue, facts: Partial<CacheItem> = {}): CacheItem => ({
  ...{ key, value, lifeMs: LIFE_MS, tags: [] },
  ...facts,
})

export const text = (value: CacheValue | undefined): string | undefined =>
  value === undefined || typeof value === 'string' ? value : Buffer.from(value).toString()

export async function readOne(store: CacheStore, key: string, space = SPACE): Promise<string | undefined> {
  const [found] = await store.read(space, [key], now())
  return text(found?.value)
}

export async function beginOne(
  store: CacheStore,
  key: string,
  claim: Partial<FillClaim> = {},
  space = SPACE,
): Promise<FillStart & { token: string }> {
  const token = claim.token ?? randomUUID()
  const whole = { token, leaseMs: LIFE_MS, freshAboveMs: 0, takeOver: false, ...claim }
  const [start] = await store.begin(space, [key], whole, now())
  return { ...start!, token }
}

/** Claims a fill that must be granted, and returns its token. */
export async function fill(store: CacheStore, key: string, claim: Partial<FillClaim> = {}, space = SPACE) {
  const { state, token } = await beginOne(store, key, claim, space)
  assert.equal(state, 'filling')
  return token
}

export async function storeOne(
  store: CacheStore,
  token: string,
  entry: CacheItem,
  isChange = false,
): Promise<string> {
  const [outcome] = await store.store(SPACE, [{ ...entry, token, isChange }], now())
  return outcome!
}

export function heard(store: CacheStore): { notices: CacheNotice[]; stop(): void } {
  const notices: CacheNotice[] = []
  return { notices, stop: store.watch((notice) => notices.push(notice)) }
}

/** The same, after the store has started to receive every notice, which may take a read of its feed. */
export async function followed(store: CacheStore): Promise<{ notices: CacheNotice[]; stop(): void }> {
  const hearing = heard(store)
  const { notices } = hearing
  await until('the feed', () => notices.length === 0 || notices.at(-1)!.kind === 'resumed')
  notices.length = 0
  return hearing
}
