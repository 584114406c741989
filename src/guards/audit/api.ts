import type { AuditPage, AuditQuery } from './types.js'

/** The audit trail API. The library implements it, and so does the remote half of the CLI. */
export interface AuditApi {
  list(query?: AuditQuery): Promise<AuditPage>
}
