/** Why a row is not served, and what to do about it. */
export const UNSERVED = {
  'uuid-case':
    'a UUID that is not in lower case, as checks look it up: import the customer again, then delete the row',
  'customer-id':
    'the customer id has characters, or a length, that are not accepted: write it in another spelling',
  'list-id':
    'the list id has characters, a length or a case that are not accepted: create the list with another id',
  'unreadable-list': 'the META of the list cannot be read: correct its attributes',
  'no-list': 'the list has no META: create the list, or delete the row',
  'other-place':
    'the list keeps this customer in another shard or table: import the customer again, then delete the row',
} as const

export interface UnservedRow {
  table: string
  partition: string
  sort: string
  why: keyof typeof UNSERVED
}

export interface AdoptionProgress {
  /** Items scanned. */
  scanned: number
  /** Lists found, of all programs. */
  lists: number
  /** Rows that no check will find. */
  unserved: number
}

export interface ScanOptions {
  onProgress?: ((progress: AdoptionProgress) => void) | undefined
  onUnserved?: ((row: UnservedRow) => void) | undefined
}
