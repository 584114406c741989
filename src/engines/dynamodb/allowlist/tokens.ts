import { invalid } from '../../../core/errors.js'
import type { ListRef, Position } from '../../../guards/allowlist/changes/port.js'
import type { WriteToken } from '../../../guards/allowlist/port.js'

/** The state of a list in which a write was made. */
export interface WriteState extends ListRef {
  generation: number
  layout: number
}

export interface DynamodbToken extends WriteToken {
  readonly generation: number
  readonly layout: number
}

/** In a token instead of a change id: nothing can prove that an index contains the write, so the table is read. */
export const UNPROVABLE = '-'
/** The name in the log for the removal of the row that had this change id. */
export const removalOf = (changeId: string): string => `-${changeId}`

const FORM =
  /^d\.([0-9a-z]{1,32})\.([0-9a-z]{1,11})\.([0-9a-z]{1,11})\.([0-9a-z]{1,11})\.(-?[0-9A-Za-z_]{0,64}(?:~-?[0-9A-Za-z_]{1,64}){0,99})$/

/**
 * Write tokens are `d.STORE.INCARNATION.GENERATION.LAYOUT.CHANGES`, numbers in base 36. The changes are change ids
 * separated by `~`; those of removals begin with `-`.
 */
export class Tokens {
  constructor(
    private readonly storeId: string,
    private readonly applied: AppliedChanges,
  ) {}

  write({ incarnation, generation, layout }: WriteState, ...changes: string[]): string {
    const numbers = [incarnation, generation, layout].map((value) => value.toString(36))
    return ['d', this.storeId, ...numbers, changes.join('~')].join('.')
  }

  /** A token for the last change in each log. Undefined if this process has not read one of these entries. */
  at(state: WriteState, position: Position): string | undefined {
    const changes: string[] = []
    for (const [log, { sequence }] of position.entries()) {
      if (sequence === 0) continue
      const change = this.applied.lastOf(state.incarnation, log, sequence)
      if (change === undefined) return undefined
      changes.push(change)
    }
    return changes.length === 0 ? undefined : this.write(state, ...changes)
  }

  /** Throws INVALID_INPUT if the token does not belong to this store. */
  read(token: string): DynamodbToken {
    const [, store, ...parts] = FORM.exec(token) ?? []
    if (store === undefined) throw invalid('atLeast', 'is not a token that a write returned')
    if (store !== this.storeId) throw invalid('atLeast', 'is a token of another store')
    const [incarnation, generation, layout] = parts.slice(0, 3).map((part) => Number.parseInt(part, 36))
    const changes = parts[3]!.split('~')
    return {
      incarnation: incarnation!,
      generation: generation!,
      layout: layout!,
      isIn: (position) => changes.every((change) => this.applied.isIn(incarnation!, change, position)),
    }
  }
}

interface LogPlace {
  incarnation: number
  log: number
  sequence: number
  mark: number
}

/** The change ids of the log entries that were read here. The oldest are forgotten. */
export class AppliedChanges {
  private readonly places = new Map<string, LogPlace>()
  /** The last one of each log, by `INCARNATION.LOG`. */
  private readonly last = new Map<string, { changeId: string; sequence: number }>()

  constructor(private readonly capacity = 100_000) {}

  /** Called for every entry that is read from a log. */
  note(incarnation: number, log: number, sequence: number, mark: number, changeIds: Iterable<string>): void {
    for (const changeId of changeIds) {
      this.places.set(changeId, { incarnation, log, sequence, mark })
      if (this.places.size > this.capacity) this.places.delete(this.places.keys().next().value!)
      this.last.set(`${incarnation}.${log}`, { changeId, sequence })
    }
  }

  /** The change with which the log reached this entry. */
  lastOf(incarnation: number, log: number, sequence: number): string | undefined {
    const last = this.last.get(`${incarnation}.${log}`)
    return last?.sequence === sequence && this.places.has(last.changeId) ? last.changeId : undefined
  }

  /** Whether an index at this position certainly contains the change. */
  isIn(incarnation: number, changeId: string, position: Position): boolean {
    const place = this.places.get(changeId)
    const reached = place && position[place.log]
    if (reached === undefined || place?.incarnation !== incarnation) return false
    return reached.mark === place.mark && reached.sequence >= place.sequence
  }
}
