import type { Grant } from '../../../guards/access/grants.js'
import type { Principal } from '../../../guards/access/index.js'
import { effectiveScopes, type Scope } from '../../../guards/access/scopes.js'
import type { Session } from '../../../guards/access/sessions/index.js'
import type { RoleOptions } from '../../../guards/access/sign-in-options.js'
import { limitsOf, type SignInSettings } from './settings.js'

/** What the provider says of a person. */
export type Claims = Readonly<Record<string, unknown>>

export interface Person {
  readonly subject: string
  readonly name: string
  readonly roles: readonly string[]
}

const MAX_NAME = 256

/** Reads claims, and finds what roles permit. */
export class People {
  private readonly grants: ReadonlyMap<string, Grant>

  constructor(private readonly settings: Pick<SignInSettings, 'roles' | 'groupsClaim' | 'nameClaim'>) {
    this.grants = new Map(settings.roles.map((role) => [role.name, grantOf(role)]))
  }

  person(subject: string, claims: Claims): Person {
    const { roles, groupsClaim } = this.settings
    const groups = new Set(textsOf(claimOf(claims, groupsClaim)))
    const has = ({ groups: wanted }: RoleOptions) => wanted.some((one) => one === '*' || groups.has(one))
    return {
      subject,
      name: this.nameOf(claims) ?? (shown(subject) || subject),
      roles: roles.filter(has).map(({ name }) => name),
    }
  }

  /** What the person may do now; undefined when the configuration has none of the roles any more. */
  principal(session: Session): Principal | undefined {
    const grants = session.roles.flatMap((role) => this.grants.get(role) ?? [])
    if (grants.length === 0) return undefined
    const scopes = new Set<Scope>(grants.flatMap((grant) => [...grant.scopes]))
    const { subject, name, roles, endsAt } = session
    return { id: subject, name, scopes, grants, person: { subject, roles, endsAt } }
  }

  /** Of an e-mail that the provider has not verified, anybody may be the owner. */
  private nameOf(claims: Claims): string | undefined {
    const { nameClaim } = this.settings
    // Some providers write it as a text.
    if (nameClaim === 'email' && String(claims.email_verified) === 'false') return undefined
    const name = claimOf(claims, nameClaim)
    return typeof name === 'string' ? shown(name) || undefined : undefined
  }
}

/** Without control characters and changes of direction, which could show another name. */
const shown = (name: string): string =>
  name
    .replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '')
    .trim()
    .slice(0, MAX_NAME)

function grantOf(role: RoleOptions): Grant {
  const limits = limitsOf(role)
  const scopes = effectiveScopes(role.scopes)
  return limits === undefined ? { scopes } : { scopes, limits }
}

/** A claim of this name, which may hold dots; otherwise the dots lead into objects. */
function claimOf(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name]
  let found: unknown = claims
  for (const part of name.split('.')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, part)) return undefined
    found = (found as Claims)[part]
  }
  return found
}

const textsOf = (value: unknown): string[] =>
  [value].flat().filter((one): one is string => typeof one === 'string')
