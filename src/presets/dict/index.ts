import type { Caches } from '../../guards/cache/index.js'
import { DictClaims } from './claims.js'
import { DictEntries } from './entries.js'
import { DictKeyCounts } from './key-counts.js'
import type { DictOptions } from './spaces.js'
import type { DictClaim, DictEntry } from './types.js'
import { DictWorkflows } from './workflows.js'

export { DICT_LIMITS } from '../../guards/rate-limit/presets.js'
export type { DictClaims } from './claims.js'
export type { DictEntries } from './entries.js'
export type { DictKeyCounts, KeyOwner } from './key-counts.js'
export { cnpj, cpf, KEY_TYPES, type KeyType, keyName, type PixKey, pixKey } from './pix-key.js'
export { DICT_TTL_MS, type DictOptions } from './spaces.js'
export * from './types.js'
export type { DictWorkflows } from './workflows.js'

/**
 * Idempotency settings with one record per request id, on every engine. On Redis it is named
 * `bridge:idempotency:{request_id}`, as in the documents. Another operation with the same id is another request,
 * and is refused.
 */
export const DICT_IDEMPOTENCY = { naming: 'bare' } as const
/** The same, as a setting of a Redis store. */
export const DICT_REDIS = { idempotencyNaming: 'bare' } as const

export interface DictCache<E extends DictEntry, C extends DictClaim, M extends object> {
  entries: DictEntries<E>
  claims: DictClaims<C>
  workflows: DictWorkflows<M>
  keyCounts: DictKeyCounts
}

/** The caches of the DICT documents, with their names, TTLs and policies: `dictCache(catraca.cache)`. */
export function dictCache<
  E extends DictEntry = DictEntry,
  C extends DictClaim = DictClaim,
  M extends object = Record<string, unknown>,
>(cache: Caches, options: DictOptions = {}): DictCache<E, C, M> {
  const workflows = new DictWorkflows<M>(cache, options)
  return {
    entries: new DictEntries(cache, options),
    claims: new DictClaims(cache, workflows as unknown as DictWorkflows<object>, options),
    workflows,
    keyCounts: new DictKeyCounts(cache, options),
  }
}
