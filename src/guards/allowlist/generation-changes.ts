import {
  attributesAt,
  FOREVER,
  isMember,
  newWindowedRow,
  visible,
  type WindowedRow,
  withAttributes,
} from './generation-window.js'
import type { MemberAttributes } from './port.js'
import type { JsonObject } from './types.js'

/** The generation that readers see, and the one that a running replace builds. */
interface Generations {
  generation: number
  replacing?: { generation: number } | undefined
}

/** Undefined: the row is deleted. */
export type Change<Row> = Row | undefined | 'as it is'

/** Which counts of a list a change of one row changes, and by how much. */
export function countSteps(
  { generation, replacing }: Generations,
  before: WindowedRow | undefined,
  after: WindowedRow | undefined,
): { customerCount: number; pendingCount: number } {
  const step = (seenBy: number) => Number(visible(after, seenBy)) - Number(visible(before, seenBy))
  return {
    customerCount: step(generation),
    pendingCount: replacing === undefined ? 0 : step(replacing.generation),
  }
}

/** The row of a member that a caller adds. */
export function addedRow(
  { generation, replacing }: Generations,
  before: WindowedRow | undefined,
  attributes: MemberAttributes,
  now: number,
): WindowedRow {
  const addedAt = isMember(before, generation, now) ? before!.addedAt : now
  return pinned(newWindowedRow(attributes, addedAt), replacing?.generation ?? 0)
}

/** The row of a member that a caller removes. */
export function removedRow(
  { replacing }: Generations,
  before: WindowedRow | undefined,
  now: number,
): Change<WindowedRow> {
  if (replacing === undefined) return before === undefined ? 'as it is' : undefined
  // The running replace may still reach this customer. The tombstone tells it that the customer was removed since.
  return { ...newWindowedRow(undefined, now), pin: replacing.generation, tombstone: true }
}

/** The row that an import in `add` mode stores for a customer. */
export function importedRow<Row extends WindowedRow>(
  { generation, replacing }: Generations,
  before: Row | undefined,
  given: MemberAttributes | undefined,
  addedBy: string | undefined,
  now: number,
): Row | WindowedRow | 'as it is' {
  const pin = replacing?.generation ?? 0
  if (!isMember(before, generation, now)) return pinned(newWindowedRow(byDefault(addedBy, given), now), pin)
  if (given !== undefined && !sameAttributes(given, attributesAt(before!, generation)))
    return pinned(newWindowedRow(given, before!.addedAt), pin)
  // The member does not change. But it is pinned, so that a running replace does not remove it.
  return pin === 0 || before!.pin === pin ? 'as it is' : { ...before!, until: FOREVER, pin }
}

/** A customer of the new list, with the attributes of its row, or a member that the new list does not contain. */
export type Wish = { stays: true; given: MemberAttributes | undefined } | { stays: false }

/** What a replace does for one customer. Without a row, nothing is written. */
export interface ReplaceDecision<Row> {
  count: 'added' | 'unchanged' | 'removed' | undefined
  row: Row | WindowedRow | undefined
}

/** Only differences are written, as generation windows, so that no reader sees them before the switch. */
export function replacedRow<Row extends WindowedRow>(
  { generation: current, replacing }: Generations,
  found: Row | undefined,
  wish: Wish,
  addedBy: string | undefined,
  now: number,
): ReplaceDecision<Row> {
  const { generation } = replacing!
  // Removes what an earlier replace left in the row and no sweep has cleaned yet.
  const row = found && folded(found, current)
  const isPinned = row?.pin === generation
  if (!wish.stays) {
    if (isPinned || !visible(row, generation)) return { count: undefined, row: undefined }
    return { count: 'removed', row: { ...row!, until: generation } }
  }
  const { given } = wish
  if (isPinned) return { count: 'unchanged', row: undefined }
  if (isMember(row, generation, now)) {
    const isSame = given === undefined || sameAttributes(given, attributesAt(row!, generation))
    const next = { from: generation, attributes: given! }
    return { count: 'unchanged', row: isSame ? undefined : { ...row!, next } }
  }
  const attributes = byDefault(addedBy, given) ?? {}
  // An expired member is visible until the switch, so its new attributes must not show before.
  const after = visible(row, generation)
    ? { ...row!, next: { from: generation, attributes } }
    : { ...newWindowedRow(attributes, now), from: generation }
  return { count: 'added', row: after }
}

/** What a row becomes after the switch to a generation. No visible value changes. */
export function afterSwitch<Row extends WindowedRow>(row: Row, generation: number): Change<Row> {
  if (row.tombstone) return row.pin <= generation ? undefined : 'as it is'
  if (row.until <= generation) return undefined
  return row.next === undefined || row.next.from > generation ? 'as it is' : folded(row, generation)
}

/** What a row becomes after a replace to a generation was abandoned. */
export function afterUndo<Row extends WindowedRow>(row: Row, generation: number): Change<Row> {
  if (row.tombstone) return row.pin <= generation ? undefined : 'as it is'
  if (row.from === generation) return undefined
  const changed = { ...row }
  if (row.until === generation) changed.until = FOREVER
  if (row.next?.from === generation) delete changed.next
  return changed.until === row.until && changed.next === row.next ? 'as it is' : changed
}

/** The row with only the attributes that this generation sees. */
function folded<Row extends WindowedRow>(row: Row, generation: number): Row {
  if (row.next === undefined || row.next.from > generation) return row
  const { next, addedBy: _, metadata: __, expiresAt: ___, ...rest } = row
  return withAttributes(rest as unknown as Row, next.attributes)
}

function pinned(row: WindowedRow, pin: number): WindowedRow {
  row.pin = pin
  return row
}

const byDefault = (
  addedBy: string | undefined,
  given: MemberAttributes | undefined,
): MemberAttributes | undefined => (addedBy === undefined ? given : { addedBy, ...given })

export function sameAttributes(a: MemberAttributes, b: MemberAttributes): boolean {
  return (
    a.addedBy === b.addedBy &&
    a.expiresAt === b.expiresAt &&
    JSON.stringify(sorted(a.metadata)) === JSON.stringify(sorted(b.metadata))
  )
}

/** Some stores do not preserve the order of fields. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isObject(value)) return value
  const entries = Object.entries(value).map(([name, entry]) => [name, sorted(entry)] as const)
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
