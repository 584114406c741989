import { ViewChanged } from './allowlist/port.js'
import { CatracaError } from './errors.js'

/** How a call of an engine ended. */
export type CallOutcome = 'ok' | 'unavailable' | 'timeout' | 'unknown_outcome' | 'error'

/** Upper bounds of the buckets that calls are counted in. */
export const CALL_BOUNDS_MS = [0.1, 0.25, 0.5, 1, 2, 5, 10, 25, 50, 100, 250, 1000] as const

/** All calls of one verb of one engine: plain numbers, because some are added to for every request. */
export class VerbCalls {
  readonly outcomes: Record<CallOutcome, number> = {
    ok: 0,
    unavailable: 0,
    timeout: 0,
    unknown_outcome: 0,
    error: 0,
  }
  /** Calls by duration, one bucket for each bound and one above all; only of those that had to be waited for. */
  readonly buckets = new Float64Array(CALL_BOUNDS_MS.length + 1)
  sumMs = 0

  constructor(
    readonly engine: string,
    readonly capability: string,
    readonly verb: string,
  ) {}

  ended(durationMs: number, outcome: CallOutcome): void {
    this.outcomes[outcome]++
    let bucket = 0
    while (bucket < CALL_BOUNDS_MS.length && durationMs > CALL_BOUNDS_MS[bucket]!) bucket++
    this.buckets[bucket]!++
    this.sumMs += durationMs
  }
}

/** What the engines of an instance were asked, by engine, capability and verb. */
export class EngineCalls {
  readonly #verbs = new Map<string, VerbCalls>()

  /** Two stores of one engine are counted together. */
  of(engine: string, capability: string, verb: string): VerbCalls {
    const key = `${engine}/${capability}/${verb}`
    let calls = this.#verbs.get(key)
    if (calls === undefined) this.#verbs.set(key, (calls = new VerbCalls(engine, capability, verb)))
    return calls
  }

  rows(): Iterable<VerbCalls> {
    return this.#verbs.values()
  }
}

const TIMED_OUT = new Set(['TimeoutError', 'AbortError'])

/** What a failure says of the engine. One that found fault with the question has answered it. */
export function outcomeOf(error: unknown): CallOutcome {
  if (error instanceof ViewChanged) return 'ok'
  if (!(error instanceof CatracaError)) return 'error'
  switch (error.code) {
    case 'ENGINE_UNAVAILABLE':
      return TIMED_OUT.has((error.cause as Error | undefined)?.name ?? '') ? 'timeout' : 'unavailable'
    case 'UNKNOWN_OUTCOME':
      return 'unknown_outcome'
    case 'INVALID_INPUT':
      return 'ok'
    default:
      return 'error'
  }
}
