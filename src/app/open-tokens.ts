import type { Clock } from '../core/clock.js'
import { TokenDenylist } from '../guards/token-denylist/index.js'
import { DEFAULT_TOKENS, type TokenOptions } from '../guards/token-denylist/types.js'
import type { StoreEngine } from './open-engine.js'

export interface OpenTokensOptions extends Partial<TokenOptions> {
  /** A store URL, if revoked tokens are in another store than the rest. */
  store?: string
}

interface Surroundings {
  clock: Clock
  report: (message: string, error: unknown) => void
}

export function openTokens(
  { store: _, ...given }: OpenTokensOptions,
  { tokens }: StoreEngine,
  around: Surroundings,
): TokenDenylist {
  return new TokenDenylist({
    ...around,
    store: tokens,
    options: { ...DEFAULT_TOKENS, ...given },
  })
}
