import { encodeIdentifier } from '../../core/encode-identifier.js'
import { invalid } from '../../core/errors.js'
import type { TokenQuestion } from './types.js'

/** Claims of a token as a JWT has them, times in seconds. */
export interface TokenClaims {
  jti?: string | undefined
  sub?: string | undefined
  iat?: number | undefined
}

/**
 * What is asked about a token that somebody else issued; all of it must be denied. Ids are encoded, because such
 * tokens may hold any text. An id with `~` may have been revoked by a caller that did not encode it, so the raw id is
 * checked too. A token without usable claims is refused, because it could not be revoked either.
 */
export function questionsOf({ jti, sub, iat }: TokenClaims): TokenQuestion[] {
  if (jti === undefined && sub === undefined) throw invalid('token', 'has neither jti nor sub')
  const issuedAt = sub === undefined || iat === undefined ? undefined : new Date(iat * 1000)
  const encoded = {
    jti: jti === undefined ? undefined : encodeIdentifier(jti, 'jti'),
    subject: sub === undefined ? undefined : encodeIdentifier(sub, 'sub'),
    issuedAt,
  }
  const asItIs = { jti, subject: sub, issuedAt }
  const mayBeOther = [jti, sub].some((id) => id?.includes('~')) && [jti, sub].every(isIdentifier)
  // One of both is there.
  return (mayBeOther ? [encoded, asItIs] : [encoded]) as TokenQuestion[]
}

const isIdentifier = (id: string | undefined): boolean => id === undefined || /^[\w.~:@+=-]{1,256}$/.test(id)
