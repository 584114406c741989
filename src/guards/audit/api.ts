import type { AuditPage, AuditQuery } from './types.js'

/** The audit trail API. The library implements it, and the remote half of the CLI as far as commands need it. */
export interface AuditApi {
  list(query?: AuditQuery): Promise<AuditPage>
  /** Every entry that matches, up to 100,000, as CSV for spreadsheets. */
  export(query?: Omit<AuditQuery, 'limit' | 'cursor'>): AsyncIterable<Uint8Array>
}
