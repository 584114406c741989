import { isCatracaError } from '../errors.js'
import type { AuditTrail, Deed } from './trail.js'

/** How a change is told of. */
export interface Account<T, Before> {
  /** How it was before; asked first, and left out when that fails. */
  look?: () => Promise<Before>
  /** What was asked for: recorded when nobody knows whether it was done. */
  asked(before: Before | undefined): Deed
  /** What was done; nothing, when nothing was changed. */
  done(result: T, before: Before | undefined): readonly Deed[]
  /** What a failure left done after all. */
  failed?(error: unknown, before: Before | undefined): readonly Deed[]
}

/** Makes a change and records it before its caller is answered. */
export async function recording<T, Before = undefined>(
  trail: AuditTrail,
  change: () => Promise<T>,
  account: Account<T, Before>,
): Promise<T> {
  const acting = trail.current()
  const before = await account.look?.().catch(() => undefined)
  let result: T
  try {
    result = await change()
  } catch (error) {
    const deeds = isCatracaError(error, 'UNKNOWN_OUTCOME')
      ? [{ ...account.asked(before), outcome: 'unknown' as const }]
      : (account.failed?.(error, before) ?? [])
    // What went wrong first is what the caller hears of.
    if (deeds.length > 0) await trail.record(acting, deeds).catch(() => {})
    throw error
  }
  const deeds = account.done(result, before)
  if (deeds.length > 0) await trail.record(acting, deeds)
  return result
}

type Verb<Guard> = {
  [Name in keyof Guard]: Guard[Name] extends (...args: never[]) => unknown ? Name : never
}[keyof Guard]

/** Puts something in front of a verb of a guard, for everybody who has the guard. */
export function inFront<Guard extends object, Name extends Verb<Guard>>(
  guard: Guard,
  name: Name,
  around: (verb: Guard[Name]) => Guard[Name],
): void {
  const verb = guard[name] as (...args: never[]) => unknown
  guard[name] = around(verb.bind(guard) as Guard[Name])
}
