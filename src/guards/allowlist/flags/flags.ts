import { plainName } from '../../../core/identifiers.js'
import { isPromise, type MaybePromise, whenReady } from '../../../core/maybe-promise.js'
import type { CheckedList, CheckStore, ListStore } from '../port.js'
import type { CheckAnswer, CheckOptions, CheckResult } from '../types.js'
import { isUnreadable } from '../unreadable.js'
import { asWrongContext, parseContext } from './context.js'
import { type FlagAnswer, flagNotFound, flagOf } from './flag.js'

interface FlagsParts {
  /** A check of canonical ids, with no bound on their number. */
  check(
    customerId: string,
    listIds: readonly string[],
    options: CheckOptions | undefined,
  ): MaybePromise<CheckAnswer>
  lists: Pick<ListStore, 'page'>
  checks: Pick<CheckStore, 'view'>
  tokenNow(list: CheckedList): string | undefined
  /** Of the image of the list in memory. */
  imageOf(list: CheckedList): Pick<FlagState, 'changes' | 'isStale'>
}

/** What evaluations of one flag rest on. While it is the same, so are they, but for the passing of time. */
export interface FlagState {
  list: Pick<CheckedList, 'incarnation' | 'version' | 'generation'> | undefined
  /** How often the image of the list in memory changed. Undefined if the list is not in memory. */
  changes: number | undefined
  /** The store does not answer, or memory is behind it. */
  isStale: boolean
}

export const isSameState = (a: FlagState, b: FlagState): boolean =>
  a.changes === b.changes &&
  a.list?.incarnation === b.list?.incarnation &&
  a.list?.version === b.list?.version &&
  a.list?.generation === b.list?.generation

const PAGE = 1000

/** Lists and waves as boolean flags. */
export class Flags {
  constructor(private readonly parts: FlagsParts) {}

  /** Throws `WrongContext`. Returns a promise only when the engine must wait. */
  evaluate(key: string, context: unknown): MaybePromise<FlagAnswer> {
    const { customerId, options } = parseContext(context)
    const listId = listIdOf(key)
    if (listId === undefined) return flagNotFound(key)
    const answer = this.check(customerId, [listId], options)
    return isPromise(answer)
      ? answer.then(({ results }) => this.answered(key, results[0]!, options?.atLeast))
      : this.answered(key, answer.results[0]!, options?.atLeast)
  }

  /**
   * Evaluates all of these flags for one customer. Their metadata hold no token and no time: these change also where
   * nothing changes for this customer.
   */
  evaluateAll(listIds: readonly string[], context: unknown): MaybePromise<FlagAnswer[]> {
    const { customerId, options } = parseContext(context)
    if (listIds.length === 0) return []
    return whenReady(this.check(customerId, listIds, options), ({ results }) => this.all(results))
  }

  private check(customerId: string, listIds: readonly string[], options: CheckOptions | undefined) {
    if (options === undefined) return this.parts.check(customerId, listIds, options)
    // The token came with the context.
    try {
      const answer = this.parts.check(customerId, listIds, options)
      return isPromise(answer)
        ? answer.catch((error: unknown) => {
            throw asWrongContext(error)
          })
        : answer
    } catch (error) {
      throw asWrongContext(error)
    }
  }

  private answered(key: string, result: CheckResult, atLeast: string | undefined): MaybePromise<FlagAnswer> {
    return whenReady(this.list(result.allowlistId), (list) => {
      const token = list?.type === 'FIXA' && !result.degraded ? this.parts.tokenNow(list) : undefined
      return flagOf(key, result, list, token ?? atLeast)
    })
  }

  private all(results: readonly CheckResult[]): MaybePromise<FlagAnswer[]> {
    const lists = results.map(({ allowlistId }) => this.list(allowlistId))
    const asFlags = (found: readonly (CheckedList | undefined)[]) =>
      results.map(({ asOf: _, ...result }, i) => flagOf(result.allowlistId, result, found[i]))
    return lists.some(isPromise)
      ? Promise.all(lists).then(asFlags)
      : asFlags(lists as (CheckedList | undefined)[])
  }

  /** The list as the check saw it, or a newer one. Its metadata are not worth an error of its own. */
  private list(id: string): MaybePromise<CheckedList | undefined> {
    const none = () => undefined
    try {
      const found = this.read(id)
      return isPromise(found) ? found.catch(none) : found
    } catch {
      return undefined
    }
  }

  private read(id: string): MaybePromise<CheckedList | undefined> {
    return whenReady(this.parts.checks.view(undefined), (view) => view.list(id))
  }

  async state(key: string): Promise<FlagState> {
    const listId = listIdOf(key)
    if (listId === undefined) return { list: undefined, changes: 0, isStale: false }
    try {
      const list = await this.read(listId)
      if (list?.type !== 'FIXA') return { list, changes: 0, isStale: false }
      return { list, ...this.parts.imageOf(list) }
    } catch (error) {
      if (isUnreadable(error)) return { list: undefined, changes: 0, isStale: false }
      return { list: undefined, changes: undefined, isStale: true }
    }
  }

  /** The ids of lists that begin with this prefix, in order, at most `limit` of them. */
  async idsWith(prefix: string, limit: number): Promise<string[]> {
    const ids: string[] = []
    let after = before(prefix)
    while (ids.length < limit) {
      const page = await this.parts.lists.page(after, Math.min(PAGE, limit))
      for (const { id } of page) {
        if (id.startsWith(prefix)) ids.push(id)
        else if (id > prefix) return ids.slice(0, limit)
      }
      if (page.length < Math.min(PAGE, limit)) break
      after = page.at(-1)!.id
    }
    return ids.slice(0, limit)
  }
}

/** An id that comes before all ids with this prefix, and after most others. */
function before(prefix: string): string | undefined {
  if (prefix === '') return undefined
  const last = prefix.length - 1
  return `${prefix.slice(0, last)}${String.fromCharCode(prefix.charCodeAt(last) - 1)}~~~~`
}

/** Undefined if no list can have this id. */
function listIdOf(key: unknown): string | undefined {
  try {
    return plainName('key', key)
  } catch {
    return undefined
  }
}
