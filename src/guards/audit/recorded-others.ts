import { isoTime } from '../../core/clock.js'
import { identifier } from '../../core/identifiers.js'
import type { ApiKey, ApiKeys } from '../access/index.js'
import type { Idempotency } from '../idempotency/index.js'
import type { RecordView } from '../idempotency/types.js'
import type { Locks } from '../lock/index.js'
import type { OneTimeCodes } from '../one-time-code/index.js'
import type { TokenDenylist } from '../token-denylist/index.js'
import { subjectRevocation, tokenRevocation } from '../token-denylist/input.js'
import type { RevokedToken } from '../token-denylist/types.js'
import type { AuditedAction } from './index.js'
import type { ChangesOf } from './recording.js'

/** If more tokens are revoked at once, one entry records their number. */
const TOKENS_ONE_BY_ONE = 100

/** Records the scopes of a key, never the key or its hash. */
export const KEY_CHANGES: ChangesOf<ApiKeys, 'list' | 'stored' | 'used'> = {
  create: (_, { name, scopes }) => ({
    asked: () => ({
      action: 'key.create',
      target: { kind: 'key', id: identifier('name', name) },
      after: { scopes },
    }),
    done: (key) => ({ after: grantOf(key) }),
  }),
  update: (keys, name, change) => ({
    look: async () => (await keys.list()).find((key) => key.name === identifier('name', name)),
    asked: (before?: ApiKey) => ({
      action: 'key.update',
      target: { kind: 'key', id: identifier('name', name) },
      before: before && grantOf(before),
      after: change,
    }),
    done: (key) => ({ after: grantOf(key) }),
  }),
  revoke: (keys, name) => ({
    look: async () => (await keys.list()).find((key) => key.name === identifier('name', name)),
    asked: (before?: ApiKey) => ({
      action: 'key.revoke',
      target: { kind: 'key', id: identifier('name', name) },
      before: before && grantOf(before),
    }),
  }),
  unlock: () => ({ asked: () => ({ action: 'key.unlock', target: { kind: 'key', id: '*' } }) }),
}

const grantOf = ({ id, scopes, expiresAt }: ApiKey) => ({
  ...{ id, scopes },
  ...(expiresAt !== undefined && { expiresAt }),
})

type Run = 'run' | 'hold' | 'begin' | 'complete' | 'fail' | 'release' | 'extend' | 'get' | 'list' | 'sweep'

/** Deleting a record by hand allows its request to run again. The entry contains its status, not its content. */
export const IDEMPOTENCY_CHANGES: ChangesOf<Idempotency, Run> = {
  delete: (idempotency, { key, operation }) => ({
    look: () => idempotency.get({ key, operation }),
    asked: (before?: RecordView) => ({
      action: 'idempotency.delete',
      target: {
        kind: 'idempotency',
        id: identifier('key', key),
        operation: identifier('operation', operation),
      },
      before: before && { status: before.status, attempt: before.attempt, createdAt: before.createdAt },
    }),
    isMade: (isDeleted) => isDeleted,
  }),
}

type Locking = 'acquire' | 'extend' | 'release' | 'withLock' | 'hold' | 'status' | 'list' | 'sweep'

/** Records forced releases. Normal acquires and releases are not recorded. */
export const LOCK_CHANGES: ChangesOf<Locks, Locking> = {
  forceRelease: (_, name) => ({
    asked: () => ({ action: 'lock.break', target: { kind: 'lock', id: identifier('name', name) } }),
    isMade: (isReleased) => isReleased,
  }),
}

/** Records that a code was revoked and its lock lifted. The address is private, so a keyed hash replaces it. */
export const CODE_CHANGES: ChangesOf<OneTimeCodes, 'issue' | 'verify' | 'status' | 'sweep'> = {
  revoke: (codes, request) => ({
    asked: () => ({
      action: 'code.revoke',
      target: { kind: 'code', id: codes.addressHash(request), channel: request.channel },
    }),
    isMade: ({ revoked }) => revoked,
  }),
}

type Questions = 'isRevoked' | 'check' | 'subject' | 'warmUp' | 'sweep' | 'close'

export const TOKEN_CHANGES: ChangesOf<TokenDenylist, Questions> = {
  revoke: (_, token) => ({ asked: () => revocation(token) }),
  revokeAll: (_, tokens) => ({
    asked: () => ({
      action: 'token.revoke',
      target: { kind: 'token', id: '*' },
      detail: { count: tokens.length },
    }),
    done: () => (tokens.length > TOKENS_ONE_BY_ONE ? {} : tokens.map(revocation)),
  }),
  revokeSubject: (_, mark) => ({
    asked: () => {
      const { id, expiresAt, ...rest } = subjectRevocation(mark)
      const notBefore = 'notBefore' in rest ? rest.notBefore : 0
      return {
        action: 'subject.revoke',
        target: { kind: 'subject', id },
        after: { notBefore: isoTime(notBefore), expiresAt: isoTime(expiresAt) },
      }
    },
  }),
}

function revocation(token: RevokedToken): AuditedAction {
  const { id, expiresAt } = tokenRevocation(token)
  return { action: 'token.revoke', target: { kind: 'token', id }, after: { expiresAt: isoTime(expiresAt) } }
}
