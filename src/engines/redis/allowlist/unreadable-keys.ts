import { unreadableList } from '../../../guards/allowlist/unreadable.js'
import { isForeign } from '../link/failures.js'
import { foreignKey } from '../link/foreign-keys.js'
import type { Redis } from '../link/redis.js'
import type { KeyType } from '../link/script.js'

/**
 * Turns the failure of a read of one list. If another program has written under a key of the list, only this list
 * cannot be read, and the error names the key and the type found.
 */
export async function unlessForeign(
  error: unknown,
  redis: Redis,
  listId: string,
  keys: readonly string[],
  types: readonly KeyType[],
): Promise<never> {
  if (!isForeign(error)) throw error
  const named = await foreignKey(keys, types, (key) => redis.read(key, ['TYPE', key]))
  throw unreadableList(listId, (named ?? (error as Error)).message, error)
}
