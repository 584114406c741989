import type { KeysFound } from '../../core/diagnosis.js'
import type { KeyLock, KeyRecord, StoredKeys } from './port.js'

/**
 * The mark that a store has had keys. It is stored among the keys, so that one read returns both. No key can have
 * its name, which is not a valid identifier, nor its hash. A server of version 0.1.0 reads it as a key that no
 * caller has, and so stays locked too.
 */
export const MARK_NAME = '#lock'

const mark = (lock: Exclude<KeyLock, 'never'>): KeyRecord => ({
  name: MARK_NAME,
  scopes: [],
  hash: lock,
  createdAt: 0,
})

export const LOCKED_MARK = mark('locked')
export const LIFTED_MARK = mark('lifted')

/** Separates the mark from the keys. */
export function storedKeys(rows: readonly KeyRecord[]): StoredKeys {
  const records = rows.filter(({ name }) => name !== MARK_NAME)
  const lock = rows.find(({ name }) => name === MARK_NAME)?.hash
  if (records.length > 0 || lock === LOCKED_MARK.hash) return { records, lock: 'locked' }
  return { records, lock: lock === LIFTED_MARK.hash ? 'lifted' : 'never' }
}

export function keysFound({ records, lock }: StoredKeys): KeysFound {
  return { count: records.length, isLocked: lock === 'locked' }
}
