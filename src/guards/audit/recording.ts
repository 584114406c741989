import { chunksOf } from '../../core/chunks.js'
import { type ChangeDeadlines, isUnavailable, monotonicMs } from '../../core/deadlines.js'
import { CatracaError, isCatracaError } from '../../core/errors.js'
import type { AuditedAction, AuditTrail } from './index.js'
import type { AuditOutcome } from './types.js'

/** How to describe a change in the trail. */
export interface ChangeDescription<T, Before> {
  /** Reads the state before the change. If that fails, the entry has no `before`. */
  look?: () => Promise<Before>
  /** The requested change: recorded when it is made, and when the outcome is unknown. */
  asked(before: Before | undefined): AuditedAction
  /** Whether anything was changed. Without this, a call that succeeds is a change. */
  isMade?(result: T, before: Before | undefined): boolean
  /** What the result tells more about the change, or the entries to record instead. */
  done?(result: T, before: Before | undefined): Partial<AuditedAction> | readonly AuditedAction[]
  /** The changes that remain after a failure. */
  failed?(error: unknown): readonly AuditedAction[]
  /** The change has no deadline. */
  isLong?: boolean
  /** When the call of the caller began, if that was before this. */
  since?: number
  /** The change is one write, whose timeout the engine enforces. It needs no second deadline. */
  isOneWrite?: boolean
}

/** Records that are read at once before a set of changes. */
const READ_AT_ONCE = 16

/** A call that changes many records: an entry for each. Sets may be large, so they have no deadline. */
export function changesInSet<Change, Before>(
  changes: readonly Change[],
  read: (change: Change) => Promise<Before | undefined>,
  audited: (change: Change, before: Before | undefined) => AuditedAction,
): ChangeDescription<{ changed: number }, (Before | undefined)[]> {
  const all = (before: (Before | undefined)[] | undefined) =>
    changes.map((change, i) => audited(change, before?.[i]))
  const first = (outcome: AuditOutcome, before: (Before | undefined)[] | undefined, made: object) => ({
    ...all(before)[0]!,
    ...{ outcome, detail: { changes: changes.length, ...made } },
  })
  return {
    isLong: true,
    async look() {
      const found: (Before | undefined)[] = []
      // What does not exist yet cannot be read.
      for (const part of chunksOf(changes, READ_AT_ONCE))
        found.push(...(await Promise.all(part.map((change) => read(change).catch(() => undefined)))))
      return found
    },
    asked: (before) => first('unknown', before, {}),
    done: (_, before) => all(before),
    failed(error) {
      const { changed } = (isCatracaError(error) && error.facts) || {}
      return typeof changed === 'number' && changed > 0 ? [first('partial', undefined, { changed })] : []
    },
  }
}

type Verb<Guard> = {
  [Name in keyof Guard]: Guard[Name] extends (...args: never[]) => Promise<unknown> ? Name : never
}[keyof Guard]

/**
 * Describes each change of a guard. The `Unrecorded` verbs change nothing, or are called by traffic and not by people.
 * A verb of the guard that is neither described nor named there does not compile.
 */
export type ChangesOf<Guard, Unrecorded extends Verb<Guard>> = {
  readonly [Name in Exclude<Verb<Guard>, Unrecorded>]: Guard[Name] extends (
    ...args: infer Args
  ) => Promise<infer T>
    ? // biome-ignore lint/suspicious/noExplicitAny: each description names the type of what it looks at.
      (guard: Guard, ...args: Args) => ChangeDescription<T, any>
    : never
}

/**
 * Makes a change and records it before the caller gets the result. All steps, including the read of the earlier state,
 * share the timeout of one write. So a store that does not answer delays its caller once, not once per step.
 */
export async function recording<T, Before = undefined>(
  trail: AuditTrail,
  change: () => Promise<T>,
  account: ChangeDescription<T, Before>,
): Promise<T> {
  const { deadlines } = trail
  const since = account.isLong ? undefined : (account.since ?? monotonicMs())
  const needsNoWatch = since === undefined || account.isOneWrite
  const bounded = (): Promise<T> => (needsNoWatch ? change() : deadlines.within(change(), since))
  if (!trail.isEnabled) return bounded()
  const acting = trail.current()
  const before = await look(account, deadlines, since)
  let result: T
  try {
    result = await bounded()
  } catch (error) {
    const auditedActions = isCatracaError(error, 'UNKNOWN_OUTCOME')
      ? [{ ...account.asked(before), outcome: 'unknown' as const }]
      : (account.failed?.(error) ?? [])
    // The caller gets the first error.
    if (auditedActions.length > 0) await trail.record(acting, auditedActions, since).catch(() => {})
    throw error
  }
  const auditedActions = madeActions(account, result, before)
  if (auditedActions.length > 0) await trail.record(acting, auditedActions, since)
  return result
}

function madeActions<T, Before>(
  account: ChangeDescription<T, Before>,
  result: T,
  before: Before | undefined,
): readonly AuditedAction[] {
  if (account.isMade?.(result, before) === false) return []
  const done = account.done?.(result, before)
  return Array.isArray(done) ? done : [{ ...account.asked(before), ...done }]
}

async function look<Before>(
  account: Pick<ChangeDescription<never, Before>, 'look'>,
  deadlines: ChangeDeadlines,
  since: number | undefined,
): Promise<Before | undefined> {
  if (account.look === undefined) return undefined
  try {
    return await deadlines.within(account.look(), since)
  } catch (error) {
    // Too little time is left: the outcome of a change that starts now would not be known in time.
    if (since !== undefined && isUnavailable(error) && deadlines.isNearlyOver(since)) throw silent(error)
    return undefined
  }
}

/** Waits for what a change needs to know first, within the time of the change. */
export function readFirst<T>(read: Promise<T>, deadlines: ChangeDeadlines, since: number): Promise<T> {
  return deadlines.within(read, since, (error) =>
    isCatracaError(error, 'UNKNOWN_OUTCOME') ? silent(error) : error,
  )
}

/** Nothing was changed, however the read ended. */
function silent(cause: unknown): CatracaError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new CatracaError('ENGINE_UNAVAILABLE', `nothing was changed: ${reason}`, { cause })
}
