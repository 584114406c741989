import type { Position } from '../../../guards/allowlist/changes/port.js'
import { listKeys } from '../allowlist/keys.js'

/** Names of everything that the hot tier keeps of a list, all in one slot. No identifier holds `#` or a brace. */
export interface HotKeys {
  /** The members; see below what else is in it. */
  set: string
  /** Hash: who keeps the set (`owner`, `until`, `step`) and what it holds (`fill`, `state`, `position`). */
  control: string
  /** `FILL STATE POSITION`, as long as the set is fresh. */
  fresh: string
  /** The set that is being loaded. */
  next: string
  /** Of a list that lives in this database itself, and owns the set. */
  meta: string
}

export function hotKeys(listId: string): HotKeys {
  const set = `allowlist:${listId}`
  const control = `{${set}}:hot`
  return { set, control, fresh: `${control}:fresh`, next: `${control}:next`, meta: listKeys(listId).meta }
}

/** In a set for somebody whose membership ends: the store must be asked. */
export const unsure = (customerId: string): string => `#${customerId}`
/** In a set that was loaded whole. It goes with the set, whoever removes that. */
export const seal = (fill: string): string => `##${fill}`

export const writePosition = (position: Position): string =>
  position.map(({ sequence, mark }) => `${sequence}.${mark}`).join(',')

export function readPosition(text: string): Position {
  return text.split(',').map((one) => {
    const [sequence = Number.NaN, mark = Number.NaN] = one.split('.').map(Number)
    return { sequence, mark }
  })
}
