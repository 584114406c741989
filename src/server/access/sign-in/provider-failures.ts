/** The grant itself is refused: the person was removed, signed out there, or withdrew the consent. */
const REFUSALS = new Set([
  ...['invalid_grant', 'access_denied', 'login_required', 'interaction_required', 'consent_required'],
])
/** A token that proves to be wrong: somebody else made it, or it is of somebody else. */
const FORGERIES = new Set([
  ...['OAUTH_INVALID_RESPONSE', 'OAUTH_KEY_SELECTION_FAILED', 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED'],
  ...['OAUTH_JWT_CLAIM_COMPARISON_FAILED', 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED'],
])

interface Failure {
  name: string
  message: string
  code?: string
  error?: string
  error_description?: string
  status?: number
  /** The answer, where that is what failed. */
  cause?: { code?: unknown; status?: number }
}

/**
 * Whether the provider refuses the person. All else (the network, a server error, too many requests, wrong credentials of
 * ours) says nothing of the person.
 */
export function isRefusal(error: unknown, stage: 'discovery' | 'token' | 'userinfo'): boolean {
  const { name, code = '', error: told = '', status, cause } = error as Failure
  if (stage === 'discovery') return false
  // The token is a moment old. Not every provider says by a challenge why it refuses it.
  if (name === 'WWWAuthenticateChallengeError' || code === 'OAUTH_RESPONSE_IS_NOT_CONFORM')
    return stage === 'userinfo' && [401, 403].includes(status ?? cause?.status ?? 0)
  if (name === 'ResponseBodyError') return REFUSALS.has(told)
  return FORGERIES.has(code)
}

/** What a log may hold of it. Its cause may hold tokens. */
export function describeFailure(error: unknown): Record<string, unknown> {
  const { name, message, code, error: told, error_description, status } = (error ?? {}) as Failure
  const cause = (error as { cause?: { code?: unknown } } | undefined)?.cause?.code
  return { name, message, code, error: told, description: error_description?.slice(0, 200), status, cause }
}
