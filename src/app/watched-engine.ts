import { isPromise, type MaybePromise, whenReady } from '../core/maybe-promise.js'
import type { Engine, GuardName } from '../engines/engine.js'
import type { CheckStore, CheckView } from '../guards/allowlist/port.js'
import type { CallTracing } from './call-tracing.js'
import { type Decoration, decorated, type Method } from './decorate.js'
import { type EngineCalls, outcomeOf, type VerbCalls } from './engine-calls.js'
import { CHANGES, CHECKS, type Members, PORT_LIST, VIEW } from './watched-ports.js'

export interface EngineWatch {
  readonly calls: EngineCalls
  readonly tracing: CallTracing
}

type PortsOf<E extends Engine> = Pick<E, Extract<keyof E, GuardName>>

/** The ports that the engine offers, with each call timed, counted and, if the host collects traces, traced. */
export function watchedPorts<E extends Engine>(engine: E, watch: EngineWatch): PortsOf<E> {
  const of = new PortWatch(engine.name, watch)
  const watched: Record<string, object> = {}
  for (const { guard, part, members } of PORT_LIST) {
    const offered = engine[guard] as Record<string, object> | undefined
    if (offered === undefined) continue
    const port = part === undefined ? offered : offered[part]!
    const isUntimed = engine.answersFromMemory && FROM_MEMORY.has(members)
    const seen = isUntimed ? port : of.port(port, members, guard, part)
    if (part === undefined) watched[guard] = seen
    else watched[guard] = { ...watched[guard], [part]: seen }
  }
  return watched as PortsOf<E>
}

/** What engines that answer from memory answer for every check. */
const FROM_MEMORY = new Set<object>([CHECKS, CHANGES])

class PortWatch {
  private readonly views = new WeakMap<CheckView, CheckView>()

  constructor(
    private readonly engine: string,
    private readonly watch: EngineWatch,
  ) {}

  /** `part`: which port, for capabilities with several. */
  port(port: object, members: Members, capability: string, part: string | undefined): object {
    if (members === CHECKS) return this.checks(port as CheckStore)
    const watch: Decoration = (name, method) => {
      if (members[name] === 'plain') return method
      return this.verb(method, capability, part === undefined ? name : `${part}.${name}`)
    }
    return decorated(port, members, watch)
  }

  private checks(checks: CheckStore): CheckStore {
    return {
      view: (freshness) => whenReady(checks.view(freshness), (view) => this.view(view)),
      readToken: (token) => checks.readToken(token),
      tokenAt: (list, position) => checks.tokenAt(list, position),
    }
  }

  /** Engines have a few views that they return again and again. */
  private view(view: CheckView): CheckView {
    let watched = this.views.get(view)
    if (watched === undefined) {
      const watch: Decoration = (name, method) => this.verb(method, 'allowlists', `checks.${name}`)
      watched = decorated(view, VIEW, watch)
      this.views.set(view, watched)
    }
    return watched
  }

  private verb(method: Method, capability: string, name: string): Method {
    const calls = this.watch.calls.of(this.engine, capability, name)
    const { tracing } = this.watch
    return (...args) => {
      const span = tracing.spans?.engineCall(calls)
      if (span !== undefined) return span.around(() => timed(method, args, calls))
      return timed(method, args, calls)
    }
  }
}

function timed(method: Method, args: unknown[], calls: VerbCalls): MaybePromise<unknown> {
  const startedMs = performance.now()
  let answer: MaybePromise<unknown>
  try {
    answer = method(...args)
  } catch (error) {
    calls.outcomes[outcomeOf(error)]++
    throw error
  }
  // A synchronous result takes too little time to measure.
  if (!isPromise(answer)) calls.outcomes.ok++
  else {
    answer.then(
      () => calls.ended(performance.now() - startedMs, 'ok'),
      (error) => calls.ended(performance.now() - startedMs, outcomeOf(error)),
    )
  }
  return answer
}
