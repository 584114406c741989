import assert from 'node:assert/strict'
import type { AttemptOutcome, LockStore } from '../../guards/lock/port.js'

/** A store of locks, and the time that it goes by. */
export interface LockScene {
  readonly locks: LockStore
  /** What callers give as their time. */
  now(): number
  /** Lets time pass for the store, without anybody waiting: for both instances. */
  elapse(ms: number): Promise<void>
  /** Forgets everything that is known of a name, as a store that lost it would. */
  lose(name: string): Promise<void>
}

export const TTL_MS = 30_000

export function acquire(
  { locks, now }: LockScene,
  name: string,
  owner: string,
  ttlMs = TTL_MS,
  waits = false,
): Promise<AttemptOutcome> {
  return locks.acquire({ name, owner, ttlMs, waits }, now())
}

/** Acquires what must be free; the fence. */
export async function fenceFor(
  scene: LockScene,
  name: string,
  owner: string,
  ttlMs = TTL_MS,
): Promise<number> {
  const answer = await acquire(scene, name, owner, ttlMs)
  assert.equal(answer.outcome, 'acquired', `${name} by ${owner}`)
  const { fence } = answer as { fence: number }
  assert.ok(Number.isSafeInteger(fence), `${fence} is a fence`)
  return fence
}

/** What must be somebody else's; for how long. */
export async function heldFor(scene: LockScene, name: string, owner: string): Promise<number> {
  const answer = await acquire(scene, name, owner)
  assert.equal(answer.outcome, 'held', `${name} by ${owner}`)
  return (answer as { retryAfterMs: number }).retryAfterMs
}
