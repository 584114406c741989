import assert from 'node:assert/strict'
import type { AttemptOutcome, LockStore } from '../../guards/lock/port.js'

/** A lock store, and its time. */
export interface LockScene {
  readonly locks: LockStore
  /** The time that callers pass. */
  now(): number
  /** Advances the time of the store for both instances, without waiting. */
  elapse(ms: number): Promise<void>
  /** Deletes all data of a name, as a store that lost it would. */
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

/** Acquires a lock that must be free, and returns its fence. */
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

/** Asserts that another owner holds the lock; returns for how long. */
export async function heldFor(scene: LockScene, name: string, owner: string): Promise<number> {
  const answer = await acquire(scene, name, owner)
  assert.equal(answer.outcome, 'held', `${name} by ${owner}`)
  return (answer as { retryAfterMs: number }).retryAfterMs
}
