import { invalid, isCatracaError } from '../../core/errors.js'
import { identifier } from '../../core/identifiers.js'
import type { ApiKey } from '../../guards/access/index.js'
import type { Scope } from '../../guards/access/scopes.js'
import type { CacheAnswer, SpaceStats } from '../../guards/cache/types.js'
import type { RecordKey } from '../../guards/idempotency/types.js'
import { codeKey } from '../../guards/one-time-code/address.js'
import type { CodeAddress } from '../../guards/one-time-code/types.js'
import { MAX_REVOCATIONS } from '../../guards/token-denylist/port.js'
import type { Moment } from '../../guards/token-denylist/types.js'
import type { Target } from '../commands/support/target.js'
import { remoteAllowlists } from './allowlists.js'
import { type Calls, callsTo, existed, unless } from './calls.js'
import { remoteLimits } from './limits.js'
import { RemoteLocks } from './locks.js'

/**
 * A server, with the methods, results and errors of the library. Values that become part of a path are checked here
 * as the library checks them: the client refuses some of them too, in other words.
 */
export function httpTarget(url: string, key: () => string | undefined): Target {
  const calls = callsTo(url, key)
  return {
    allowlists: remoteAllowlists(calls, url),
    limits: remoteLimits(calls),
    locks: new RemoteLocks(calls),
    idempotency: records(calls),
    codes: codes(calls),
    tokens: tokens(calls),
    cache: cache(calls),
    keys: keys(calls),
    audit: { list: (query) => calls.listAudit(query) },
    settle: async () => {},
    close: async () => {},
  }
}

function records(calls: Calls): Target['idempotency'] {
  const ABSENT = 'IDEMPOTENCY_RECORD_NOT_FOUND'
  const checked = ({ operation, key }: RecordKey): RecordKey => ({
    operation: identifier('operation', operation),
    key: identifier('key', key),
  })
  return {
    get: async (key) => unless(ABSENT, calls.getIdempotencyRecord(checked(key))),
    delete: async (key) => existed(ABSENT, calls.deleteIdempotencyRecord(checked(key))),
  }
}

function codes(calls: Calls): Target['codes'] {
  const checked = (given: CodeAddress) => {
    const { channel, address, purpose } = codeKey(given)
    return { channel, body: { address, ...(purpose !== '' && { purpose }) } }
  }
  return {
    issue: async (request) => {
      try {
        const { code, expiresAt } = await calls.issueCode(checked(request))
        return { issued: true, code, expiresAt }
      } catch (error) {
        if (!isCatracaError(error, 'QUOTA_EXCEEDED')) throw error
        const { retryAfterMs, 'violated-policies': violated } = error.facts as Record<string, never>
        return { issued: false, violated: violated!, retryAfterMs: retryAfterMs! }
      }
    },
    verify: async ({ code, ...request }) => {
      const { channel, body } = checked(request)
      return calls.verifyCode({ channel, body: { ...body, code } })
    },
    status: async (request) => calls.getCodeStatus(checked(request)),
    revoke: async (request) => calls.revokeCode(checked(request)),
  }
}

function tokens(calls: Calls): Target['tokens'] {
  const text = (moment: Moment): string => (moment instanceof Date ? moment.toISOString() : moment)
  return {
    revokeAll: async (revoked) => {
      const body = revoked.map(({ jti, expiresAt }) => ({ jti, expiresAt: text(expiresAt) }))
      for (let from = 0; from < body.length; from += MAX_REVOCATIONS) {
        await calls.revokeTokens({ body: { tokens: body.slice(from, from + MAX_REVOCATIONS) } })
      }
    },
    revokeSubject: async ({ subject, notBefore, expiresAt }) =>
      calls.revokeSubject({
        subject: identifier('subject', subject),
        body: { notBefore: text(notBefore), expiresAt: text(expiresAt) },
      }),
    check: async ({ jti, subject, issuedAt }) =>
      calls.checkToken({
        jti: identifier('jti', jti),
        ...(subject !== undefined && { subject }),
        ...(issuedAt !== undefined && { issuedAt: text(issuedAt) }),
      }),
  }
}

function cache(calls: Calls): Target['cache'] {
  const at = (space: string, key: string) => ({
    space: identifier('space', space),
    key: identifier('key', key),
  })
  return {
    get: async (space, key) => {
      const cached = await unless(
        'CACHE_KEY_NOT_FOUND',
        calls.getCached<CacheAnswer<unknown>>(at(space, key)),
      )
      return cached && { ...cached, stale: cached.stale === true }
    },
    set: async (space, key, value, options) =>
      calls.setCached({ ...at(space, key), body: { value, ...options } }),
    expire: async (space, key) => calls.expireCached(at(space, key)),
    // The server does not report whether the key existed.
    delete: async (space, key) => calls.deleteCached(at(space, key)).then(() => true),
    stats: async () => (await calls.cacheStats<{ spaces: Record<string, SpaceStats> }>()).spaces,
  }
}

function keys(calls: Calls): Target['keys'] {
  return {
    create: ({ name, scopes }) => calls.createKey({ body: { name, scopes: scopes as Scope[] } }),
    list: async () => (await calls.listKeys<{ items: ApiKey[] }>()).items,
    revoke: async (name) => calls.revokeKey({ name: identifier('name', name) }),
    // A locked server accepts no call, so there is no route for this.
    unlock: async () => {
      throw invalid('--store', 'is needed: a server cannot be unlocked over HTTP')
    },
  }
}
