import { encodeIdentifier } from '../core/encode-identifier.js'
import { invalid } from '../core/errors.js'
import { plainName } from '../core/identifiers.js'
import type { LimitsApi } from '../guards/rate-limit/api.js'
import type { Admitted, LimitStatus, Limits } from '../guards/rate-limit/types.js'
import { guardOf } from './gate.js'

type LimitsGuard = Pick<LimitsApi, 'acquire' | 'giveBack' | 'reset' | 'status'>

/** Options of the stores for other limiters. */
export interface WindowStoreOptions {
  /** An instance, or a server: `openCatraca(…)` or `connectCatraca(…)`. */
  catraca: { limits: LimitsGuard }
  /** The limited resource. Limiters with one resource count together. */
  resource: string
}

/** A window as other limiters state it. */
export interface Window {
  limit: number
  windowMs: number
}

export interface WindowCount {
  /** How many calls the window has counted. Above the limit if this call was denied. */
  hits: number
  /** Time until the window ends. */
  resetMs: number
  /** Has the lease that `giveBack` needs. Undefined if the call was denied, because then nothing was taken. */
  admitted: Admitted | undefined
}

/** The name of the one limit that these stores take from. */
const NAME = 'window'

/** Counts calls for limiters that judge by themselves. They expect a number, and the guard gives a decision. */
export class WindowCounts {
  readonly resource: string
  private readonly guard: LimitsGuard

  constructor(options: WindowStoreOptions) {
    this.guard = guardOf<'limits', LimitsGuard>({ catraca: options.catraca }, 'limits')
    this.resource = plainName('resource', options.resource)
  }

  async add(key: string, window: Window): Promise<WindowCount> {
    const answer = await this.guard.acquire({
      entity: encodeIdentifier(key, 'key'),
      resource: this.resource,
      // Other limits that are configured for the resource cost nothing here.
      consume: { [NAME]: 1 },
      limits: limitsOf(window),
    })
    const status = answer.limits[NAME]
    if (!answer.allowed) return { hits: window.limit + 1, resetMs: answer.retryAfterMs, admitted: undefined }
    // The store does not answer, and the configuration says to admit.
    if (status === undefined) return { hits: 1, resetMs: window.windowMs, admitted: answer }
    return { hits: Math.max(1, hitsOf(status)), resetMs: status.resetMs, admitted: answer }
  }

  /** The same without counting a call. */
  async read(key: string, window: Window): Promise<Pick<WindowCount, 'hits' | 'resetMs'>> {
    const options = { limits: limitsOf(window) }
    const { limits } = await this.guard.status(encodeIdentifier(key, 'key'), this.resource, options)
    const status = limits[NAME]!
    return { hits: hitsOf(status), resetMs: status.resetMs }
  }

  async giveBack(leaseId: string): Promise<void> {
    await this.guard.giveBack(leaseId)
  }

  async reset(key: string): Promise<void> {
    await this.guard.reset(encodeIdentifier(key, 'key'), this.resource)
  }
}

const hitsOf = ({ limit, remaining }: LimitStatus): number => limit - remaining

const limitsOf = ({ limit, windowMs }: Window): Limits => ({
  [NAME]: { capacity: limit, refillPeriodSeconds: windowMs / 1000, algorithm: 'fixed-window' },
})

/** Refuses what the guard cannot count, in the words of the other limiter. */
export function checkWindow(
  { limit, windowMs }: { limit: unknown; windowMs: unknown },
  names: WindowNames,
): Window {
  for (const [name, value] of [
    [names.limit, limit],
    [names.windowMs, windowMs],
  ] as const) {
    if (typeof value === 'function') {
      throw invalid(
        name,
        'must be a number: a store cannot know the limit of a request. Use an adapter of catraca',
      )
    }
  }
  if (!Number.isSafeInteger(limit) || (limit as number) < 1) {
    throw invalid(names.limit, 'must be a whole number from 1')
  }
  if (!Number.isSafeInteger(windowMs) || (windowMs as number) < 1000 || (windowMs as number) % 1000 !== 0) {
    throw invalid(names.windowMs, 'must be whole seconds, in milliseconds, from 1000')
  }
  return { limit: limit as number, windowMs: windowMs as number }
}

export interface WindowNames {
  limit: string
  windowMs: string
}
