import type { AuditPage, AuditQuery } from './types.js'

/** The trail as a reader sees it: the same in the library and, over HTTP, in the client of the command line. */
export interface AuditApi {
  list(query?: AuditQuery): Promise<AuditPage>
}
