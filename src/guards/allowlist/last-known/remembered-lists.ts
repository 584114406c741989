import { isPromise, type MaybePromise } from '../../../core/maybe-promise.js'
import type { Position } from '../changes/port.js'
import type { CheckedList, CheckStore, CheckView, Freshness, WriteToken } from '../port.js'

interface Remembered {
  list: CheckedList
  /** The latest time at which the record was certainly right, in monotonic milliseconds. */
  knownAtMs: number
}

/** Only lists that exist are remembered: callers can make up any number of ids. */
const MAX_LISTS = 10_000

/** A check store that remembers the list records that checks of the present have used. */
export class RememberedLists implements CheckStore {
  private readonly lists = new Map<string, Remembered>()
  private readonly present: CheckView

  /** `cachedForMs`: how old a record may be that the engine answers from its own memory. */
  constructor(
    private readonly engine: CheckStore,
    private readonly cachedForMs: number,
  ) {
    const present = engine.view(undefined)
    if (isPromise(present)) throw new TypeError('a view of the present must not be asynchronous')
    this.present = {
      list: (listId) => this.ask(present, listId),
      member: (list, customerId, atLeast) => present.member(list, customerId, atLeast),
    }
  }

  view(freshness: Freshness): MaybePromise<CheckView> {
    return freshness === undefined ? this.present : this.engine.view(freshness)
  }

  readToken(token: string): WriteToken {
    return this.engine.readToken(token)
  }

  tokenAt(list: CheckedList, position: Position): string | undefined {
    return this.engine.tokenAt(list, position)
  }

  /** The record of a list as last known. Undefined: there is none in memory. */
  find(listId: string): Readonly<Remembered> | undefined {
    return this.lists.get(listId)
  }

  all(): Readonly<Remembered>[] {
    return [...this.lists.values()].map(({ list, knownAtMs }) => ({ list: plain(list), knownAtMs }))
  }

  /** What another process remembered. What this one has heard is newer. */
  restore(list: CheckedList, knownAtMs: number): void {
    if (!this.lists.has(list.id)) this.remember(list.id, list, knownAtMs)
  }

  private ask(view: CheckView, listId: string): MaybePromise<CheckedList | undefined> {
    const askedAtMs = performance.now()
    const found = view.list(listId)
    if (!isPromise(found)) {
      this.remember(listId, found, askedAtMs - this.cachedForMs)
      return found
    }
    return found.then((list) => {
      this.remember(listId, list, askedAtMs)
      return list
    })
  }

  private remember(listId: string, list: CheckedList | undefined, knownAtMs: number): void {
    const known = this.lists.get(listId)
    if (list === undefined) {
      if (known !== undefined) this.lists.delete(listId)
    } else if (known !== undefined) {
      known.list = list
      if (knownAtMs > known.knownAtMs) known.knownAtMs = knownAtMs
    } else {
      // The oldest goes: what is in use is remembered again by its next check.
      if (this.lists.size >= MAX_LISTS) this.lists.delete(this.lists.keys().next().value!)
      this.lists.set(listId, { list, knownAtMs })
    }
  }
}

/** Engines may keep more of a list than its fields. */
function plain(list: CheckedList): CheckedList {
  const { id, incarnation, name, type, precision, config, salt, version, shardCount, createdAt, generation } =
    list
  return {
    ...{ id, incarnation, name, type, precision, salt, version, shardCount, createdAt },
    ...(config !== undefined && { config }),
    ...(generation !== undefined && { generation }),
  }
}
