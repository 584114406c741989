/** Ids may contain characters that have a meaning in URLs. */
export const listPath = (id: string): string => `/allowlists/${encodeURIComponent(id)}`
