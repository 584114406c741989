import type { AuditApi } from '../../guards/audit/api.js'
import type { AuditPage, AuditQuery } from '../../guards/audit/types.js'
import type { HttpTransport } from './transport.js'

/** The audit trail of a server. */
export class HttpAudit implements AuditApi {
  constructor(private readonly http: HttpTransport) {}

  list(query: AuditQuery = {}): Promise<AuditPage> {
    return this.http.json('GET', '/audit', { query: { ...query } })
  }
}
