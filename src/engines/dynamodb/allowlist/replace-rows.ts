import type { MemberAttributes } from '../../../guards/allowlist/port.js'
import type { Item } from '../client/attributes.js'
import { folded } from './generation-sweeps.js'
import type { StoredList } from './meta.js'
import {
  attributesAt,
  isMember,
  newChangeId,
  newRow,
  type Row,
  rowOf,
  sameAttributes,
  visible,
} from './rows.js'

/** What a replace does for one customer. */
export interface RowDecision {
  count: 'added' | 'unchanged' | 'removed' | undefined
  /** Undefined: nothing is written. */
  row: Row | undefined
  /** Change of the next generation's member count. */
  step: number
}

/** A customer of the new list, with the attributes of its row, or a member that the new list does not contain. */
export interface DesiredRow {
  customerId: string
  stays: boolean
  given?: MemberAttributes | undefined
}

/**
 * Only differences are written, as generation windows on rows (rows.ts), so that no reader sees them before the
 * switch.
 */
export function judge(
  list: StoredList,
  item: Item | undefined,
  { stays, given }: DesiredRow,
  addedBy: string | undefined,
  now: number,
): RowDecision {
  const generation = list.replacing!.generation
  const found = rowOf(item, list)
  // Removes what an earlier replace left in the row and no sweep has cleaned yet.
  const row = found && folded(found, list.generation)
  if (!stays) {
    if (row === undefined || row.pin === generation || !visible(row, generation)) return NOTHING
    return { count: 'removed', row: { ...row, until: generation, changeId: newChangeId() }, step: -1 }
  }
  if (row?.pin === generation) return { count: 'unchanged', row: undefined, step: 0 }
  if (isMember(row, generation, now)) {
    if (given === undefined || sameAttributes(given, attributesAt(row!, generation))) {
      return { count: 'unchanged', row: undefined, step: 0 }
    }
    const next = { from: generation, attributes: given }
    return { count: 'unchanged', row: { ...row!, next, changeId: newChangeId() }, step: 0 }
  }
  const attributes = addedBy === undefined ? (given ?? {}) : { addedBy, ...given }
  // An expired member is visible until the switch, so its new attributes must not show before.
  const after = visible(row, generation)
    ? { ...row!, next: { from: generation, attributes }, changeId: newChangeId() }
    : { ...newRow(attributes, now), from: generation }
  return {
    count: 'added',
    row: after,
    step: Number(visible(after, generation)) - Number(visible(row, generation)),
  }
}

const NOTHING: RowDecision = { count: undefined, row: undefined, step: 0 }
