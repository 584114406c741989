import { isCatracaError } from './errors.js'
import type { MaybePromise } from './maybe-promise.js'
import { later } from './timers.js'

/** `problem`: something fails, or answers wrongly, now or on the first bad day. `skipped`: it could not be looked at. */
export type Level = 'ok' | 'warning' | 'problem' | 'skipped'

export interface CheckResult {
  level: Level
  /** What was found, in one line. Never a value that somebody stored, nor a secret. */
  found: string
  /** What to do about it, when that is other than the check's own remedy. */
  remedy?: string
}

/** One thing to look at. The id is stable: alerts and scripts may name it. */
export interface Check<C> {
  readonly id: string
  /** What must be so. */
  readonly wants: string
  /** What to do where it is not. */
  readonly remedy: string
  look(context: C): MaybePromise<CheckResult | readonly CheckResult[]>
}

export interface Finding {
  id: string
  level: Level
  /** The store or server that was looked at. */
  where?: string
  found: string
  remedy?: string
}

export interface KeysFound {
  count: number
  /** The store has had keys: without one every call is refused. */
  isLocked: boolean
}

/** What an engine tells of a store. */
export interface Diagnosis {
  findings: Finding[]
  /** API keys that are kept there, where that could be told. */
  apiKeys?: KeysFound
}

export const CHECK_TIMEOUT_MS = 8000

export const ok = (found: string): CheckResult => ({ level: 'ok', found })
export const skipped = (found: string): CheckResult => ({ level: 'skipped', found })
export const warning = (found: string, remedy?: string): CheckResult => verdict('warning', found, remedy)
export const problem = (found: string, remedy?: string): CheckResult => verdict('problem', found, remedy)

function verdict(level: Level, found: string, remedy: string | undefined): CheckResult {
  return { level, found, ...(remedy !== undefined && { remedy }) }
}

/** One after the other, so that none measures the load of another. Each ends in time, and none throws. */
export async function runChecks<C>(
  checks: readonly Check<C>[],
  context: C,
  { where, timeoutMs = CHECK_TIMEOUT_MS }: { where?: string; timeoutMs?: number } = {},
): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const check of checks) {
    const verdicts = await inTime(async () => check.look(context), timeoutMs)
    findings.push(...verdicts.map((one) => finding(check, one, where)))
  }
  return findings
}

/** Those checks, not made, and why. */
export function skipAll(checks: readonly Check<never>[], why: string, where: string | undefined): Finding[] {
  return checks.map((check) => finding(check, skipped(why), where))
}

function finding(
  { id, remedy }: Pick<Check<never>, 'id' | 'remedy'>,
  { level, found, remedy: other }: CheckResult,
  where: string | undefined,
): Finding {
  const todo = level === 'ok' || level === 'skipped' ? undefined : (other ?? remedy)
  return {
    id,
    level,
    ...(where !== undefined && { where }),
    found,
    ...(todo !== undefined && { remedy: todo }),
  }
}

async function inTime(
  look: () => Promise<CheckResult | readonly CheckResult[]>,
  timeoutMs: number,
): Promise<readonly CheckResult[]> {
  let timer!: NodeJS.Timeout
  const late = new Promise<CheckResult>((resolve) => {
    timer = later(() => resolve(problem(`no answer within ${timeoutMs} ms`)), timeoutMs)
  })
  try {
    const told = await Promise.race([look(), late])
    return Array.isArray(told) ? told : [told as CheckResult]
  } catch (error) {
    return [problem(`the check failed: ${reasonOf(error)}`)]
  } finally {
    clearTimeout(timer)
  }
}

/** Only our own messages are known to hold no secret. */
export function reasonOf(error: unknown): string {
  if (isCatracaError(error)) return `${error.message} (${error.code})`
  const code = (error as NodeJS.ErrnoException | undefined)?.code
  return code ?? (error instanceof Error ? error.name : 'unknown failure')
}

/** The value below which that share of the sorted figures is. */
export function quantile(figures: readonly number[], share: number): number {
  const sorted = [...figures].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN
}

export function latencyResult(what: string, figuresMs: readonly number[]): CheckResult {
  const [p50, p99] = [quantile(figuresMs, 0.5), quantile(figuresMs, 0.99)]
  const found = `${figuresMs.length} × ${what}: p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms`
  if (p50 > SLOW_MS) return problem(found)
  return p99 > SLOW_MS || p50 > SLUGGISH_MS ? warning(found) : ok(found)
}

const SLUGGISH_MS = 10
const SLOW_MS = 100

/** `offMs`: how far the other clock is ahead; `withinMs`: how well that is known. */
export function clockResult(offMs: number, withinMs: number): CheckResult {
  const found = `its clock is ${Math.abs(offMs).toFixed(0)} ms ${offMs < 0 ? 'behind' : 'ahead of'} this one (± ${withinMs.toFixed(0)} ms)`
  const certainMs = Math.max(0, Math.abs(offMs) - withinMs)
  if (certainMs > WRONG_CLOCK_MS) return problem(found)
  return certainMs > LOOSE_CLOCK_MS ? warning(found) : ok(found)
}

const LOOSE_CLOCK_MS = 1000
const WRONG_CLOCK_MS = 10_000

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i

export const isLoopbackAddress = (host: string): boolean => LOOPBACK.test(host)
