import { identifier } from '../../core/identifiers.js'
import type { ApiKey, ApiKeys } from '../access/index.js'
import type { Idempotency } from '../idempotency/index.js'
import type { Locks } from '../lock/index.js'
import type { OneTimeCodes } from '../one-time-code/index.js'
import type { TokenDenylist } from '../token-denylist/index.js'
import { subjectRevocation, tokenRevocation } from '../token-denylist/input.js'
import type { RevokedToken } from '../token-denylist/types.js'
import type { AuditedAction, AuditTrail } from './index.js'
import { decorate, recording } from './recording.js'

/** If more tokens are revoked at once, one entry records their number. */
const TOKENS_ONE_BY_ONE = 100

/** Records the scopes of a key, never the key or its hash. */
export function recordKeys(keys: ApiKeys, trail: AuditTrail): void {
  decorate(keys, 'create', (create) => (input) => {
    const audited = (after: { scopes: readonly string[]; id?: string }): AuditedAction => ({
      action: 'key.create',
      target: { kind: 'key', id: identifier('name', input.name) },
      after,
    })
    return recording(trail, () => create(input), {
      asked: () => audited({ scopes: input.scopes }),
      done: ({ id, scopes }) => [audited({ id, scopes })],
    })
  })
  decorate(keys, 'revoke', (revoke) => (name) => {
    const audited = (key: ApiKey | undefined): AuditedAction => ({
      action: 'key.revoke',
      target: { kind: 'key', id: identifier('name', name) },
      ...(key && { before: { id: key.id, scopes: key.scopes } }),
    })
    return recording(trail, () => revoke(name), {
      look: async () => (await keys.list()).find((key) => key.name === identifier('name', name)),
      asked: audited,
      done: (_, before) => [audited(before)],
    })
  })
  decorate(keys, 'unlock', (unlock) => () => {
    const audited = (): AuditedAction => ({ action: 'key.unlock', target: { kind: 'key', id: '*' } })
    return recording(trail, unlock, { asked: audited, done: () => [audited()] })
  })
}

/** Deleting a record by hand allows its request to run again. The entry contains its status, not its content. */
export function recordIdempotency(idempotency: Idempotency, trail: AuditTrail): void {
  decorate(idempotency, 'delete', (remove) => (key) => {
    const audited = (before: object | undefined): AuditedAction => ({
      action: 'idempotency.delete',
      target: {
        kind: 'idempotency',
        id: identifier('key', key.key),
        operation: identifier('operation', key.operation),
      },
      ...(before && { before }),
    })
    return recording(trail, () => remove(key), {
      look: async () => {
        const record = await idempotency.get(key)
        return record && { status: record.status, attempt: record.attempt, createdAt: record.createdAt }
      },
      asked: audited,
      done: (removed, before) => (removed ? [audited(before)] : []),
    })
  })
}

/** Records forced releases. Normal acquires and releases are not recorded. */
export function recordLocks(locks: Locks, trail: AuditTrail): void {
  decorate(locks, 'forceRelease', (release) => (name) => {
    const audited = (): AuditedAction => ({
      action: 'lock.break',
      target: { kind: 'lock', id: identifier('name', name) },
    })
    return recording(trail, () => release(name), {
      asked: audited,
      done: (released) => (released ? [audited()] : []),
    })
  })
}

/** Records that a code was revoked and its lock lifted. The address is private, so a keyed hash replaces it. */
export function recordCodes(codes: OneTimeCodes, trail: AuditTrail): void {
  decorate(codes, 'revoke', (revoke) => (request) => {
    const audited = (): AuditedAction => ({
      action: 'code.revoke',
      target: { kind: 'code', id: codes.addressHash(request), channel: request.channel },
    })
    return recording(trail, () => revoke(request), {
      asked: audited,
      done: ({ revoked }) => (revoked ? [audited()] : []),
    })
  })
}

export function recordTokens(tokens: TokenDenylist, trail: AuditTrail): void {
  decorate(
    tokens,
    'revoke',
    (revoke) => (token) =>
      recording(trail, () => revoke(token), {
        asked: () => revocation(token),
        done: () => [revocation(token)],
      }),
  )
  decorate(tokens, 'revokeAll', (revokeAll) => (given) => {
    const many = (): AuditedAction => ({
      action: 'token.revoke',
      target: { kind: 'token', id: '*' },
      detail: { count: given.length },
    })
    return recording(trail, () => revokeAll(given), {
      asked: many,
      done: () => (given.length > TOKENS_ONE_BY_ONE ? [many()] : given.map(revocation)),
    })
  })
  decorate(tokens, 'revokeSubject', (revoke) => (mark) => {
    const audited = (): AuditedAction => {
      const { id, expiresAt, ...rest } = subjectRevocation(mark)
      const notBefore = 'notBefore' in rest ? rest.notBefore : 0
      return {
        action: 'subject.revoke',
        target: { kind: 'subject', id },
        after: { notBefore: iso(notBefore), expiresAt: iso(expiresAt) },
      }
    }
    return recording(trail, () => revoke(mark), { asked: audited, done: () => [audited()] })
  })
}

const iso = (ms: number): string => new Date(ms).toISOString()

function revocation(token: RevokedToken): AuditedAction {
  const { id, expiresAt } = tokenRevocation(token)
  return { action: 'token.revoke', target: { kind: 'token', id }, after: { expiresAt: iso(expiresAt) } }
}
