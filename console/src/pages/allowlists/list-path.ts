/** Ids have characters that mean something in addresses. */
export const listPath = (id: string): string => `/allowlists/${encodeURIComponent(id)}`
