import type { Scope } from './scopes.js'

/** What people with one of these groups may do. */
export interface RoleOptions {
  name: string
  /** Values of the claim of groups; one of them is enough. `*`: everybody whom the provider signs in. */
  groups: readonly string[]
  scopes: readonly Scope[]
  /** Ids of lists and names of resources, or beginnings with a `*` behind them. With either, the role reaches nothing else. */
  lists?: readonly string[] | undefined
  resources?: readonly string[] | undefined
}

/** Sign-in by OpenID Connect. */
export interface SignInOptions {
  issuer: string
  clientId: string
  /** Read at every use. Without one the client is a public one. */
  clientSecret?: () => string | undefined
  clientAuth?: 'client_secret_basic' | 'client_secret_post'
  /** The origin of this server as browsers see it. */
  baseUrl: string
  /** Encrypts and signs what browsers and the store keep. At least 32 characters, the same on every process. */
  secret: () => string
  roles: readonly RoleOptions[]
  scopes?: string
  /** Sent to the provider, such as `consent` where it gives a refresh token only then. */
  prompt?: string | undefined
  groupsClaim?: string
  nameClaim?: string
  /** What the button says. */
  label?: string | undefined
  sessionMs?: number
  idleMs?: number
  /** The provider is asked again after this time, or after the life of the access token, if that is shorter. */
  confirmMs?: number
  /** How much longer a session goes on while the provider does not answer. */
  providerAwayMs?: number
  sessionsPerPerson?: number
  clockToleranceSeconds?: number
  timeoutMs?: number
}

export const SIGN_IN_DEFAULTS = {
  clientAuth: 'client_secret_basic',
  scopes: 'openid profile email offline_access',
  groupsClaim: 'groups',
  nameClaim: 'email',
  sessionMs: 12 * 3_600_000,
  idleMs: 30 * 60_000,
  confirmMs: 10 * 60_000,
  providerAwayMs: 15 * 60_000,
  sessionsPerPerson: 10,
  clockToleranceSeconds: 30,
  timeoutMs: 5_000,
} as const
