import { type CatracaClient, type ClientOptions, createClient } from '../client/index.js'
import { patientFetch } from '../client/node.js'
import { isCatracaError } from '../core/errors.js'
import { identifier } from '../core/identifiers.js'
import type { ApiKey, ApiKeys } from '../guards/access/index.js'
import type { Scope } from '../guards/access/scopes.js'
import type { AllowlistsApi } from '../guards/allowlist/api.js'
import type { AuditApi } from '../guards/audit/api.js'
import type { FleetApi } from '../guards/fleet/types.js'
import { codeKey } from '../guards/one-time-code/address.js'
import type { CodesApi } from '../guards/one-time-code/api.js'
import type { CodeAddress } from '../guards/one-time-code/types.js'
import type { LimitsApi } from '../guards/rate-limit/api.js'
import type { TokensApi } from '../guards/token-denylist/api.js'
import { MAX_REVOCATIONS } from '../guards/token-denylist/port.js'
import type { Moment, TokenAnswer, TokenQuestion } from '../guards/token-denylist/types.js'
import { remoteAllowlists } from './allowlists.js'
import { type RemoteCache, remoteCache } from './cache.js'
import { type Calls, callsOf, libraryError } from './calls.js'
import { type RemoteHealth, remoteHealth } from './health.js'
import { RemoteIdempotency } from './idempotency.js'
import { remoteLimits } from './limits.js'
import { RemoteLocks } from './locks.js'

export interface ConnectOptions extends ClientOptions {
  /** Receives errors of background work, which has no caller: a lock that could not be extended, for example. */
  onReport?: (message: string, error: unknown) => void
}

/** Answers of a guard are waited for by a request of somebody else. */
const TIMEOUT_MS = 5000

/**
 * A server, with the methods, results and errors of the library, so that it goes wherever an instance goes. Values that
 * become part of a path are checked here as the library checks them: the client refuses some of them too, in other
 * words. Takes the address of a server, or a client.
 */
export function connectCatraca(server: ConnectOptions | CatracaClient): RemoteCatraca {
  const isClient = 'acquire' in server
  const { onReport: report = () => {}, ...options } = isClient ? ({} as ConnectOptions) : server
  const { url } = options
  const client = isClient ? server : createClient({ fetch: patientFetch, timeoutMs: TIMEOUT_MS, ...options })
  const calls = callsOf(client, url)
  return {
    allowlists: remoteAllowlists(calls, url),
    limits: remoteLimits(calls),
    locks: new RemoteLocks(calls, report),
    idempotency: new RemoteIdempotency(calls, report),
    codes: codes(calls),
    tokens: tokens(calls),
    cache: remoteCache(calls),
    keys: keys(calls),
    audit: { list: (query) => calls.listAudit(query), export: (query) => auditFile(calls, url, query) },
    fleet: { list: () => calls.getFleet() },
    health: () => remoteHealth(client, url),
    close: async () => {},
  }
}

/** The guards of a server. What `Catraca` has and this lacks needs the memory of a process that holds the store. */
export interface RemoteCatraca {
  readonly allowlists: AllowlistsApi
  readonly limits: LimitsApi
  readonly locks: RemoteLocks
  readonly idempotency: RemoteIdempotency
  readonly codes: CodesApi
  readonly tokens: TokensApi & { isRevoked(question: TokenQuestion): Promise<boolean> }
  readonly cache: RemoteCache
  readonly keys: Pick<ApiKeys, 'create' | 'update' | 'list' | 'revoke'>
  readonly audit: AuditApi
  /** All processes that use the store of the server. */
  readonly fleet: FleetApi
  /** Health of the engines of the server. The key needs the scope `read`. */
  health(): Promise<RemoteHealth>
  /** Does nothing: there is no connection to close. So the same code can close an instance. */
  close(): Promise<void>
}

async function* auditFile(
  calls: Calls,
  url: string | undefined,
  query: Parameters<AuditApi['export']>[0],
): AsyncGenerator<Uint8Array> {
  const response = await calls.exportAudit(query)
  try {
    yield* response.body as ReadableStream<Uint8Array> & AsyncIterable<Uint8Array>
  } catch (error) {
    throw libraryError(url, error)
  }
}

function codes(calls: Calls): RemoteCatraca['codes'] {
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
        const { retryAfterMs, 'violated-policies': violated } = error.facts
        return { issued: false, violated, retryAfterMs }
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

function tokens(calls: Calls): RemoteCatraca['tokens'] {
  const check = async ({ jti, subject, issuedAt }: TokenQuestion): Promise<TokenAnswer> => {
    if (jti === undefined && subject !== undefined) {
      const { revoked, notBefore } = await calls.getRevokedSubject({
        subject: identifier('subject', subject),
      })
      const isBefore = issuedAt === undefined || Date.parse(text(issuedAt)) < Date.parse(notBefore ?? '')
      return { revoked: revoked && isBefore }
    }
    return calls.checkToken({
      jti: identifier('jti', jti),
      ...(subject !== undefined && { subject }),
      ...(issuedAt !== undefined && { issuedAt: text(issuedAt) }),
    })
  }
  return {
    revoke: async ({ jti, expiresAt }) =>
      calls.revokeToken({ jti: identifier('jti', jti), body: { expiresAt: text(expiresAt) } }),
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
    check,
    isRevoked: async (question) => (await check(question)).revoked,
  }
}

function keys(calls: Calls): RemoteCatraca['keys'] {
  return {
    create: ({ name, scopes, expiresAt }) =>
      calls.createKey({
        body: {
          ...{ name, scopes: scopes as Scope[] },
          ...(expiresAt !== undefined && { expiresAt: text(expiresAt) }),
        },
      }),
    update: (name, { scopes, expiresAt }) =>
      calls.updateKey({
        name: identifier('name', name),
        body: {
          ...(scopes !== undefined && { scopes: scopes as Scope[] }),
          ...(expiresAt !== undefined && { expiresAt: expiresAt === null ? null : text(expiresAt) }),
        },
      }),
    list: async () => (await calls.listKeys<{ items: ApiKey[] }>()).items,
    revoke: async (name) => calls.revokeKey({ name: identifier('name', name) }),
  }
}

const text = (moment: Moment): string => (moment instanceof Date ? moment.toISOString() : moment)
