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

/** `admin` may also read and check; no other scope implies another. */
export function effectiveScopes(scopes: readonly Scope[]): ReadonlySet<Scope> {
  return new Set(scopes.includes('admin') ? [...scopes, 'read', 'check'] : scopes)
}
