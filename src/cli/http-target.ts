import { HttpAudit } from './http-audit.js'
import { HttpCache } from './http-cache.js'
import { HttpAllowlists } from './http-client.js'
import { HttpCodes } from './http-codes.js'
import { HttpIdempotency } from './http-idempotency.js'
import { HttpKeys } from './http-keys.js'
import { HttpLimits } from './http-limits.js'
import { HttpLocks } from './http-locks.js'
import { HttpTokens } from './http-tokens.js'
import { HttpTransport } from './http-transport.js'
import type { Target } from './target.js'

export function httpTarget(url: string, key: () => string | undefined): Target {
  const transport = new HttpTransport(url, key)
  return {
    allowlists: new HttpAllowlists(transport),
    keys: new HttpKeys(transport),
    limits: new HttpLimits(transport),
    idempotency: new HttpIdempotency(transport),
    codes: new HttpCodes(transport),
    tokens: new HttpTokens(transport),
    locks: new HttpLocks(transport),
    cache: new HttpCache(transport),
    audit: new HttpAudit(transport),
    settle: async () => {},
    close: async () => {},
  }
}
