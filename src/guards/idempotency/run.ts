import { follow } from '../../core/abort.js'
import type { Held } from './held-claim.js'
import { defaultEnding } from './refusals.js'
import type { Ending, HoldRequest, Refused, Replay, RunRequest, RunResult, WorkContext } from './types.js'

export type HoldResult = { outcome: 'held'; claim: Held } | Replay<unknown> | Refused

type Report = (message: string, error: unknown) => void

/** Executes the work under a claim, or returns the stored response. Works with the library and with an HTTP client. */
export async function runHeld<T>(
  hold: (request: HoldRequest) => Promise<HoldResult>,
  report: Report,
  request: RunRequest,
  work: (context: WorkContext) => T | Promise<T>,
): Promise<RunResult<Awaited<T>>> {
  const { ending: endings, ...asked } = request
  const held = await hold(asked)
  if (held.outcome !== 'held') return held as RunResult<Awaited<T>>
  const { claim } = held
  const { attempt } = claim
  const { context, stop } = followed(claim.context, request.signal)
  const policy = endings === undefined ? defaultEnding : { ...defaultEnding, ...endings }
  let value: Awaited<T>
  try {
    value = await work(context)
  } catch (error) {
    await endByError(claim, () => policy.ofError(error), error, report)
    throw error
  } finally {
    stop()
  }
  const ending = await endingOf(claim, value, policy.ofValue)
  if (ending === 'complete') await claim.complete(value)
  else if (ending === 'fail') await claim.fail(undefined)
  else await claim.release()
  const executed = { outcome: 'executed', value, attempt } as const
  return context.degraded ? { ...executed, degraded: true } : executed
}

/** The work succeeded. If the policy throws, complete anyway, so that the work is not executed again. */
async function endingOf(claim: Held, value: unknown, choose: (value: unknown) => Ending): Promise<Ending> {
  try {
    return choose(value)
  } catch (error) {
    await claim.complete(value)
    throw error
  }
}

/** The caller gets the error of the work. A failure to record it is only reported. */
async function endByError(
  claim: Held,
  ending: () => 'fail' | 'release',
  error: unknown,
  report: Report,
): Promise<void> {
  let chosen: 'fail' | 'release' = 'fail'
  try {
    chosen = ending()
  } catch (failure) {
    report('the function that decides on failed requests threw', failure)
  }
  try {
    await (chosen === 'release' ? claim.release() : claim.fail(error))
  } catch (failure) {
    report('a failed request could not be recorded as failed', failure)
  }
}

/** A context whose signal aborts when the claim is lost or when the caller aborts. */
function followed(
  context: WorkContext,
  given: AbortSignal | undefined,
): { context: WorkContext; stop: () => void } {
  if (given === undefined) return { context, stop: () => {} }
  const over = new AbortController()
  const stops = [follow(context.signal, over), follow(given, over)]
  const stop = () => {
    for (const end of stops) end()
  }
  return { context: { ...context, signal: over.signal }, stop }
}
