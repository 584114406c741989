import type { Target } from '../commands/support/target.js'
import { HttpAudit } from './audit.js'
import { HttpCache } from './cache.js'
import { HttpAllowlists } from './client.js'
import { HttpCodes } from './codes.js'
import { HttpIdempotency } from './idempotency.js'
import { HttpKeys } from './keys.js'
import { HttpLimits } from './limits.js'
import { HttpLocks } from './locks.js'
import { HttpTokens } from './tokens.js'
import { HttpTransport } from './transport.js'

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
