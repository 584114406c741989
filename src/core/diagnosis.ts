import { isCatracaError } from './errors.js'
import type { MaybePromise } from './maybe-promise.js'
import { later } from './timers.js'

/** `problem`: something fails or gives wrong results, now or at the next outage. `skipped`: the check could not run. */
export type Level = 'ok' | 'warning' | 'problem' | 'skipped'

export interface CheckResult {
  level: Level
  /** The finding, in one line. Never contains stored values or secrets. */
  found: string
  /** What to do, if it differs from the check's own remedy. */
  remedy?: string
}

/** One check. Its id is stable: alerts and scripts may use it. */
export interface Check<C> {
  readonly id: string
  /** The expected state. */
  readonly expects: string
  /** What to do if the check fails. */
  readonly remedy: string
  run(context: C): MaybePromise<CheckResult | readonly CheckResult[]>
}

export interface Finding {
  id: string
  level: Level
  /** The store or server that was checked. */
  where?: string
  found: string
  remedy?: string
}

export interface KeysFound {
  count: number
  /** The store has had keys: a call without a key is refused. */
  isLocked: boolean
}

/** The diagnosis of a store by its engine. */
export interface Diagnosis {
  findings: Finding[]
  /** API keys in the store, if they could be read. */
  apiKeys?: KeysFound
}

const CHECK_TIMEOUT_MS = 8000

export const ok = (found: string): CheckResult => ({ level: 'ok', found })
export const skipped = (found: string): CheckResult => ({ level: 'skipped', found })
export const warning = (found: string, remedy?: string): CheckResult => verdict('warning', found, remedy)
export const problem = (found: string, remedy?: string): CheckResult => verdict('problem', found, remedy)

function verdict(level: Level, found: string, remedy: string | undefined): CheckResult {
  return { level, found, ...(remedy !== undefined && { remedy }) }
}

/**
 * Runs the checks one after the other, so that none measures the load of another. Each has a timeout, and none throws.
 */
export async function runChecks<C>(
  checks: readonly Check<C>[],
  context: C,
  { where, timeoutMs = CHECK_TIMEOUT_MS }: { where?: string; timeoutMs?: number } = {},
): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const check of checks) {
    const verdicts = await inTime(async () => check.run(context), timeoutMs)
    findings.push(...verdicts.map((one) => finding(check, one, where)))
  }
  return findings
}

/** Reports all checks as skipped, with the reason. */
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

/** Only messages of CatracaError are known to contain no secret. */
export function reasonOf(error: unknown): string {
  if (isCatracaError(error)) return `${error.message} (${error.code})`
  const code = (error as NodeJS.ErrnoException | undefined)?.code
  return code ?? (error instanceof Error ? error.name : 'unknown failure')
}

/** The value below which this share of the figures lies. */
function quantile(figures: readonly number[], share: number): number {
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

/** `offMs`: how far the other clock is ahead. `withinMs`: the precision of that value. */
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
