import type { Principal } from '../../guards/access/index.js'

/** How the log names a caller. */
export interface LoggedCaller {
  readonly key?: string
  readonly person?: string
}

/** The name of a key; of a person only the id, because names and e-mails do not belong in logs. */
export function loggedCaller(principal: Principal | undefined): LoggedCaller {
  if (principal === undefined) return {}
  return principal.person === undefined ? { key: principal.name } : { person: principal.id }
}
