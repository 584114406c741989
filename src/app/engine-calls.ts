import { CatracaError } from '../core/errors.js'
import { Durations } from '../core/figures.js'
import { ViewChanged } from '../guards/allowlist/port.js'

/** How a call of an engine ended. */
export type CallOutcome = 'ok' | 'unavailable' | 'timeout' | 'unknown_outcome' | 'error'

/** All calls of one verb of one engine: plain numbers, because some are added to for every request. */
export class VerbCalls {
  readonly outcomes: Record<CallOutcome, number> = {
    ok: 0,
    unavailable: 0,
    timeout: 0,
    unknown_outcome: 0,
    error: 0,
  }
  /** Only of calls that had to be waited for. */
  readonly durations = new Durations()

  constructor(
    readonly engine: string,
    readonly capability: string,
    readonly verb: string,
  ) {}

  ended(durationMs: number, outcome: CallOutcome): void {
    this.outcomes[outcome]++
    this.durations.add(durationMs)
  }
}

/** What the engines of an instance were asked, by engine, capability and verb. */
export class EngineCalls {
  private readonly verbs = new Map<string, VerbCalls>()

  /** Two stores of one engine are counted together. */
  of(engine: string, capability: string, verb: string): VerbCalls {
    const key = `${engine}/${capability}/${verb}`
    let calls = this.verbs.get(key)
    if (calls === undefined) this.verbs.set(key, (calls = new VerbCalls(engine, capability, verb)))
    return calls
  }

  rows(): Iterable<VerbCalls> {
    return this.verbs.values()
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
