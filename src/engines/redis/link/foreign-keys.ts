import type { CatracaError } from '../../../core/errors.js'
import { foreign } from './failures.js'
import type { KeyType } from './script.js'

/** The error that names the first of these keys with a value of another type than it must have. */
export async function foreignKey(
  keys: readonly string[],
  types: readonly KeyType[],
  /** Says what TYPE says. */
  typeOf: (key: string) => Promise<unknown>,
): Promise<CatracaError | undefined> {
  for (const [i, key] of keys.entries()) {
    const wanted = types[i] ?? 'any'
    const found = await typeOf(key).catch(() => 'none')
    if (found !== 'none' && wanted !== 'any' && found !== wanted)
      return foreign(key, `a ${found}, not a ${wanted}`)
  }
  return undefined
}
