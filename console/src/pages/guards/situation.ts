import type { GetIdempotencyRecordAnswer } from '../../api/client.js'
import { serverNow } from '../../api/server-clock.js'
import type { StateKind } from '../../parts/state.js'

export type Situation = GetIdempotencyRecordAnswer['status'] | 'CLAIM_ENDED' | 'OUTCOME_UNKNOWN'

export const KINDS: Record<Situation, StateKind> = {
  IN_PROGRESS: 'warning',
  CLAIM_ENDED: 'neutral',
  OUTCOME_UNKNOWN: 'bad',
  COMPLETED: 'good',
  FAILED: 'bad',
}

type Claim = Pick<GetIdempotencyRecordAnswer, 'status' | 'leaseUntil' | 'onLeaseExpired'>

/** A claim that was not extended in time has ended, although nobody has written that down. */
export function situationOf({ status, leaseUntil, onLeaseExpired }: Claim): Situation {
  const hasEnded = leaseUntil !== undefined && Date.parse(leaseUntil) <= serverNow()
  if (status !== 'IN_PROGRESS' || !hasEnded) return status
  return onLeaseExpired === 'unknown' ? 'OUTCOME_UNKNOWN' : 'CLAIM_ENDED'
}
