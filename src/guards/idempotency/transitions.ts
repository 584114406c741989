import type { Claim, Completion, StoredRecord, StoredResponse } from './port.js'

type PossibleAnswer = Pick<StoredRecord, 'response' | 'omittedBytes'>

/** A record with the fields that only the engine reads. */
export interface OwnedRecord extends StoredRecord {
  /** The owner that has the record, or that ended it. */
  owner: string | undefined
}

export type ClaimStep =
  | { claimed: OwnedRecord; isChanged: boolean }
  /** The record cannot be claimed. */
  | { found: OwnedRecord }

/** The new state of a record after an owner's step. `same`: the step was already done. */
export type OwnerStep = OwnedRecord | 'gone' | 'same' | 'differs' | 'lost'

export const isLive = (record: StoredRecord | undefined, now: number): record is StoredRecord =>
  record !== undefined && now < record.expiresAt

/** The new state of a record after a claim. Engines that decide in another language have equivalents of these steps. */
export function claimStep(record: OwnedRecord | undefined, claim: Claim, now: number): ClaimStep {
  if (record === undefined || !isLive(record, now)) return { claimed: fresh(claim, now), isChanged: true }
  if (!isSameRequest(record, claim)) return { found: record }
  if (record.status === 'COMPLETED') return { found: record }
  if (record.status === 'IN_PROGRESS') {
    if (record.owner === claim.owner) return { claimed: record, isChanged: false }
    if (now < (record.leaseUntil ?? 0) || !(claim.takesOver && record.takesOver)) return { found: record }
  }
  const leaseUntil = now + claim.leaseMs
  const claimed: OwnedRecord = {
    ...fresh(claim, now),
    attempt: record.attempt + 1,
    takesOver: claim.takesOver && record.takesOver,
    createdAt: record.createdAt,
    expiresAt: Math.max(record.expiresAt, leaseUntil),
  }
  return { claimed, isChanged: true }
}

export function completeStep(
  record: OwnedRecord | undefined,
  owner: string,
  { response, omittedBytes }: Completion,
  now: number,
): OwnerStep {
  const owned = ownedBy(record, owner, now)
  if (owned?.status === 'COMPLETED')
    return isSameAnswer(owned, { response, omittedBytes }) ? 'same' : 'differs'
  if (owned?.status !== 'IN_PROGRESS') return 'lost'
  return { ...owned, status: 'COMPLETED', updatedAt: now, leaseUntil: undefined, response, omittedBytes }
}

export function failStep(
  record: OwnedRecord | undefined,
  owner: string,
  error: string | undefined,
  now: number,
): OwnerStep {
  const owned = ownedBy(record, owner, now)
  if (owned?.status === 'FAILED') return 'same'
  if (owned?.status !== 'IN_PROGRESS') return 'lost'
  return { ...owned, status: 'FAILED', updatedAt: now, leaseUntil: undefined, error }
}

export function releaseStep(record: OwnedRecord | undefined, owner: string, now: number): OwnerStep {
  if (record?.status === 'IN_PROGRESS' && record.attempt === 1 && ownedBy(record, owner, now)) return 'gone'
  return failStep(record, owner, undefined, now)
}

export function extendStep(
  record: OwnedRecord | undefined,
  owner: string,
  leaseMs: number,
  now: number,
): OwnerStep {
  const owned = ownedBy(record, owner, now)
  if (owned?.status !== 'IN_PROGRESS') return 'lost'
  const leaseUntil = now + leaseMs
  return { ...owned, updatedAt: now, leaseUntil, expiresAt: Math.max(owned.expiresAt, leaseUntil) }
}

function ownedBy(record: OwnedRecord | undefined, owner: string, now: number): OwnedRecord | undefined {
  return record !== undefined && isLive(record, now) && record.owner === owner ? record : undefined
}

/**
 * A record that another program wrote without a hash matches every request. One with a hash of the raw payload
 * matches claims with the same `rawHash`.
 */
export function isSameRequest({ requestHash, isForeign }: StoredRecord, claim: Claim): boolean {
  if (requestHash === undefined || requestHash === claim.requestHash) return true
  return isForeign && requestHash.toLowerCase() === claim.rawHash
}

function isSameAnswer(record: StoredRecord, { response, omittedBytes }: PossibleAnswer): boolean {
  if (record.omittedBytes !== omittedBytes || record.response?.encoding !== response?.encoding) return false
  return response === undefined || Buffer.compare(bytesOf(record.response!), bytesOf(response)) === 0
}

const bytesOf = (response: StoredResponse): Uint8Array =>
  response.encoding === 'json' ? Buffer.from(response.text) : response.bytes

function fresh({ key, owner, requestHash, leaseMs, lifeMs, takesOver }: Claim, now: number): OwnedRecord {
  return {
    key,
    owner,
    status: 'IN_PROGRESS',
    requestHash,
    attempt: 1,
    createdAt: now,
    updatedAt: now,
    expiresAt: now + Math.max(lifeMs, leaseMs),
    leaseUntil: now + leaseMs,
    response: undefined,
    omittedBytes: undefined,
    error: undefined,
    takesOver,
    isForeign: false,
  }
}
