import type { Clock } from './clock.js'
import { CatracaError } from './errors.js'
import type { StoreEngine } from './open-engine.js'
import { TokenDenylist } from './token-denylist/denylist.js'
import type { TokenStore } from './token-denylist/port.js'
import { DEFAULT_TOKENS, type TokenOptions } from './token-denylist/types.js'

export interface OpenTokensOptions extends Partial<TokenOptions> {
  /** A store URL, when revoked tokens are kept elsewhere than the rest. */
  store?: string
}

interface Surroundings {
  clock: Clock
  report: (message: string, error: unknown) => void
}

/** The token denylist over its engine. */
export function openTokens(
  { store: _, ...given }: OpenTokensOptions,
  { name, tokens }: StoreEngine,
  around: Surroundings,
): TokenDenylist {
  return new TokenDenylist({
    ...around,
    store: tokens ?? withoutTokens(name),
    options: { ...DEFAULT_TOKENS, ...given },
  })
}

/** For a store that keeps everything else: whoever uses the denylist is told where it can be kept. */
function withoutTokens(name: string): TokenStore {
  const refuse = async (): Promise<never> => {
    throw new CatracaError(
      'STORE_UNSUPPORTED',
      `revoked tokens cannot be kept in ${name} in this version: name another store for them (stores.tokens)`,
    )
  }
  return {
    ...{ revoke: refuse, find: refuse, position: refuse, read: refuse },
    // biome-ignore lint/correctness/useYield: it refuses before there is anything to tell.
    async *all() {
      await refuse()
    },
    watch: () => () => {},
    sweep: async () => ({ more: false }),
  }
}
