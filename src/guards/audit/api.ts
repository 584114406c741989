import type { AuditPage, AuditQuery } from './types.js'

/** The audit trail API. The library implements it, and so does the CLI's HTTP client. */
export interface AuditApi {
  list(query?: AuditQuery): Promise<AuditPage>
}
