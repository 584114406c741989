export interface DaxState {
  /** Whether it answered the last read. If not, DynamoDB answers. */
  status: 'healthy' | 'unhealthy'
  /** Reads that DynamoDB answered instead, so far. */
  missedReads: number
  /** Why it did not answer. */
  error?: string
}
