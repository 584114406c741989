import { CatracaError } from '../core/errors.js'
import { Durations } from '../core/figures.js'
import { ViewChanged } from '../guards/allowlist/port.js'

/** How an engine call ended. */
type CallOutcome = 'ok' | 'unavailable' | 'timeout' | 'unknown_outcome' | 'error'

/** All calls of one verb of one engine. Plain numbers, because some are increased at every request. */
export class VerbCalls {
  readonly outcomes: Record<CallOutcome, number> = {
    ok: 0,
    unavailable: 0,
    timeout: 0,
    unknown_outcome: 0,
    error: 0,
  }
  /** Only of asynchronous calls. */
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

/** The engine calls of an instance, by engine, capability and verb. */
export class EngineCalls {
  private readonly verbs = new Map<string, VerbCalls>()

  /** Two stores of the same engine are counted together. */
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

/** What a failure says about the engine. If the engine refused invalid input, it did answer. */
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
