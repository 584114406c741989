import { api, type ListAuditAnswer, type ListAuditInput } from '../../api/client.js'

/** Each call reads some thousand entries; a user waits for about this many calls. */
const MAX_CALLS = 40

/**
 * A page of the audit trail. The server returns an empty page after some thousand entries without a match: continue.
 */
export async function findEntries(input: ListAuditInput, signal: AbortSignal): Promise<ListAuditAnswer> {
  let page = await api.listAudit(input, { signal })
  for (let calls = 1; calls < MAX_CALLS; calls++) {
    if (page.items.length > 0 || page.nextCursor === undefined) break
    page = await api.listAudit({ ...input, cursor: page.nextCursor }, { signal })
  }
  return page
}
