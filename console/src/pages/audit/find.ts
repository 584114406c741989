import { api, type ListAuditAnswer, type ListAuditInput } from '../../api/client.js'

/** Each call of the server looks through some thousand entries. A person waits for about this many calls. */
const MAX_CALLS = 40

/** A page of the audit. The server answers with an empty one after some thousand entries that do not match: ask on. */
export async function findEntries(input: ListAuditInput, signal: AbortSignal): Promise<ListAuditAnswer> {
  let page = await api.listAudit(input, { signal })
  for (let calls = 1; calls < MAX_CALLS; calls++) {
    if (page.items.length > 0 || page.nextCursor === undefined) break
    page = await api.listAudit({ ...input, cursor: page.nextCursor }, { signal })
  }
  return page
}
