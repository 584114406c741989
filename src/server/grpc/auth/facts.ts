import { CatracaError } from '../../../core/errors.js'
import type { TokenClaims } from '../../../guards/token-denylist/claims.js'
import type { CheckRequest, StructValue } from '../messages.js'
import { CUSTOMER_SOURCE } from '../options.js'

/** Where Envoy's filter for tokens leaves what it has verified. */
const VERIFIED = 'envoy.filters.http.jwt_authn'

const own = <T>(map: Record<string, T> | undefined, name: string): T | undefined =>
  map !== undefined && Object.hasOwn(map, name) ? map[name] : undefined

type Claims = Record<string, StructValue>

/** Claims of the token that Envoy has verified. A header with a token is never read: anybody could have written it. */
export function claimsOf({ attributes }: CheckRequest, payload: string): Claims | undefined {
  const verified = own(attributes?.metadataContext?.filterMetadata, VERIFIED)
  return own(verified?.fields, payload)?.structValue?.fields
}

export function tokenClaims(claims: Claims): TokenClaims {
  return {
    jti: textOf(claims, 'jti'),
    sub: textOf(claims, 'sub'),
    iat: own(claims, 'iat')?.numberValue,
  }
}

/** A claim of another type is not the same as none: its token may be revoked by it. */
function textOf(claims: Claims, name: string): string | undefined {
  const claim = own(claims, name)
  if (claim === undefined || typeof claim.stringValue === 'string') return claim?.stringValue
  throw new CatracaError('UNAUTHENTICATED', `the claim ${name} of the token is not a text`)
}

/** The customer of a request, by a source such as `header:x-customer-id`. */
export function customerOf(request: CheckRequest, source: string, payload: string): string | undefined {
  const [, kind, name] = CUSTOMER_SOURCE.exec(source)!
  const value =
    kind === 'claim'
      ? own(claimsOf(request, payload), name!)?.stringValue
      : own(request.attributes?.request?.http?.headers, name!.toLowerCase())
  return value === '' ? undefined : value
}
