export type RecordStatus = 'IN_PROGRESS' | 'COMPLETED' | 'FAILED'

export interface RecordKey {
  /** Such as PRODUCE or CONSUME. */
  operation: string
  key: string
}
