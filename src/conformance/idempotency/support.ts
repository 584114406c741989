import assert from 'node:assert/strict'
import type { Claim, ClaimOutcome, IdempotencyStore, StoredRecord } from '../../guards/idempotency/port.js'
import type { RecordKey } from '../../guards/idempotency/types.js'
import { NOW } from '../support.js'

export const LEASE_MS = 30_000
export const LIFE_MS = 24 * 3_600_000
export const HASH = 'a1'.repeat(32)
export const OTHER_HASH = 'b2'.repeat(32)
export const KEY: RecordKey = { operation: 'PRODUCE', key: '5c1e0a56-4a58-4aaf-9359-83ec8f663f10' }

/** An owner as a guard passes it: the hash of a token. */
export const owner = (i: number): string => i.toString(16).padStart(64, '0')

export const claimBy = (i: number, changes: Partial<Claim> = {}): Claim => ({
  key: KEY,
  owner: owner(i),
  requestHash: HASH,
  leaseMs: LEASE_MS,
  lifeMs: LIFE_MS,
  takesOver: true,
  ...changes,
})

export const JSON_ANSWER = { response: { encoding: 'json', text: '{"processedMessages":100}' } } as const

export async function claimed(
  store: IdempotencyStore,
  claim: Claim,
  now = NOW,
): Promise<ClaimOutcome & { outcome: 'claimed' }> {
  const outcome = await store.claim(claim, now)
  assert.ok(outcome.outcome === 'claimed', `the outcome is ${outcome.outcome}`)
  return outcome
}

export async function found(store: IdempotencyStore, claim: Claim, now = NOW): Promise<StoredRecord> {
  const outcome = await store.claim(claim, now)
  // Does not print the record: formatting megabytes of a response takes many seconds.
  assert.ok(outcome.outcome === 'found', `the outcome is ${outcome.outcome}`)
  assert.equal(outcome.at, now)
  return outcome.record
}

export async function statusOf(store: IdempotencyStore, now = NOW, key = KEY): Promise<string | undefined> {
  return (await store.read(key, now))?.status
}

/** Engines may return different byte types; only the content counts. */
export function sameBytes(actual: Uint8Array, expected: Uint8Array): void {
  assert.equal(actual.byteLength, expected.byteLength)
  assert.equal(Buffer.compare(actual, expected), 0, 'the bytes differ')
}

/** Bytes that do not compress, the same in each run. */
export function noise(sizeBytes: number): Uint8Array {
  const bytes = new Uint8Array(sizeBytes)
  let state = 0x2545f491
  for (let i = 0; i < sizeBytes; i++) {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    bytes[i] = state
  }
  return bytes
}
