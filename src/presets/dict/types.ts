import type { PixKey } from './pix-key.js'

/** The fields of an entry that the cache needs. The application may add others. */
export interface DictEntry extends PixKey {
  id: string
  status: string
}

export const CLAIM_STATUSES = [
  'OPEN',
  'WAITING_RESOLUTION',
  'CONFIRMED',
  'CANCELLED',
  'COMPLETED',
  'EXPIRED',
] as const
export type ClaimStatus = (typeof CLAIM_STATUSES)[number]

export interface DictClaim {
  id: string
  entry_id: string
  workflow_id: string
  status: ClaimStatus
}

export const WORKFLOW_STATUSES = ['RUNNING', 'COMPLETED', 'FAILED', 'TIMED_OUT'] as const
export type WorkflowStatus = (typeof WORKFLOW_STATUSES)[number]

/** Writes to the source: the database, the Bridge. */
export type Write = () => Promise<unknown>
