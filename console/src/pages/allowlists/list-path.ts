/** Ids may contain characters that have a meaning in URLs. */
export const listPath = (id: string): string => `/allowlists/${encodeURIComponent(id)}`

/** The page of all lists as it was seen last in this tab: what was searched, and which page of it. */
let lastSeen: { href: string; state: unknown } = { href: '/allowlists', state: undefined }

export function seeAllLists(): void {
  lastSeen = { href: `/allowlists${location.search}`, state: history.state }
}

/** Where who leaves a list goes back to. */
export const allLists = (): { href: string; state: unknown } => lastSeen
