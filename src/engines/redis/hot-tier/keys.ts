import type { Position } from '../../../guards/allowlist/changes/port.js'
import { listKeys, shardKeys } from '../allowlist/keys.js'

/** Names of all keys that the hot tier has for a list, all in one slot. No identifier contains `#` or a brace. */
export interface HotKeys {
  /** The members, with the extra elements described below. */
  set: string
  /**
   * Hash: the process that maintains the set (`owner`, `until`, `step`) and its content (`fill`, `state`,
   * `position`).
   */
  control: string
  /** `FILL STATE POSITION`; exists while the set is fresh. */
  fresh: string
  /** The set that is being loaded. */
  next: string
  /** META of the list, if the list is stored in this database too and owns the set. */
  meta: string
}

export function hotKeys(listId: string): HotKeys {
  const set = shardKeys(listId, 1, 0).members
  const control = `{${set}}:hot`
  return { set, control, fresh: `${control}:fresh`, next: `${control}:next`, meta: listKeys(listId).meta }
}

/** Element for a customer whose membership expires: the store must be queried. */
export const unsure = (customerId: string): string => `#${customerId}`
/** Element of a completely loaded set. It is deleted with the set, whichever program deletes it. */
export const seal = (fill: string): string => `##${fill}`

export const writePosition = (position: Position): string =>
  position.map(({ sequence, mark }) => `${sequence}.${mark}`).join(',')

export function readPosition(text: string): Position {
  return text.split(',').map((one) => {
    const [sequence = Number.NaN, mark = Number.NaN] = one.split('.').map(Number)
    return { sequence, mark }
  })
}
