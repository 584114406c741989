import { type ChangeDeadlines, isUnavailable, monotonicMs } from '../../core/deadlines.js'
import { CatracaError, isCatracaError } from '../../core/errors.js'
import type { AuditedAction, AuditTrail } from './index.js'

/** How a change is told of. */
export interface Account<T, Before> {
  /** How it was before; asked first, and left out when that fails. */
  look?: () => Promise<Before>
  /** What was asked for: recorded when nobody knows whether it was done. */
  asked(before: Before | undefined): AuditedAction
  /** What was done; nothing, when nothing was changed. */
  done(result: T, before: Before | undefined): readonly AuditedAction[]
  /** What a failure left done after all. */
  failed?(error: unknown, before: Before | undefined): readonly AuditedAction[]
  /** The change takes as long as it takes. */
  isLong?: boolean
  /** The change is one write of its engine, which bounds it by itself: it need not be watched twice. */
  isOneWrite?: boolean
}

/**
 * Makes a change and records it before its caller is answered. All of it, what was looked at before included, has the
 * time of one write: a store that is silent keeps its callers waiting once, and not once for each step.
 */
export async function recording<T, Before = undefined>(
  trail: AuditTrail,
  change: () => Promise<T>,
  account: Account<T, Before>,
): Promise<T> {
  const { deadlines } = trail
  const since = account.isLong ? undefined : monotonicMs()
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
      : (account.failed?.(error, before) ?? [])
    // What went wrong first is what the caller hears of.
    if (auditedActions.length > 0) await trail.record(acting, auditedActions, since).catch(() => {})
    throw error
  }
  const auditedActions = account.done(result, before)
  if (auditedActions.length > 0) await trail.record(acting, auditedActions, since)
  return result
}

async function look<Before>(
  account: Pick<Account<never, Before>, 'look'>,
  deadlines: ChangeDeadlines,
  since: number | undefined,
): Promise<Before | undefined> {
  if (account.look === undefined) return undefined
  try {
    return await deadlines.within(account.look(), since)
  } catch (error) {
    // Of a change that begins now nobody would learn in time whether it was made.
    if (since !== undefined && isUnavailable(error) && deadlines.isNearlyOver(since)) throw silent(error)
    return undefined
  }
}

/** Nothing was changed, however the look ended. */
function silent(cause: unknown): CatracaError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new CatracaError('ENGINE_UNAVAILABLE', `nothing was changed: ${reason}`, { cause })
}

type Verb<Guard> = {
  [Name in keyof Guard]: Guard[Name] extends (...args: never[]) => unknown ? Name : never
}[keyof Guard]

/** Puts something in front of a verb of a guard, for everybody who has the guard. */
export function decorate<Guard extends object, Name extends Verb<Guard>>(
  guard: Guard,
  name: Name,
  around: (verb: Guard[Name]) => Guard[Name],
): void {
  const verb = guard[name] as (...args: never[]) => unknown
  guard[name] = around(verb.bind(guard) as Guard[Name])
}
