/** What an API key may do. */
export const SCOPES = [
  'check',
  'read',
  'admin',
  'limits',
  'idempotency',
  'locks',
  'cache',
  'codes:issue',
  'codes:verify',
  'tokens:check',
  'tokens:revoke',
] as const

export type Scope = (typeof SCOPES)[number]
