import { isPromise, type MaybePromise, whenReady } from '../core/maybe-promise.js'
import type { Engine, GuardName } from '../engines/engine.js'
import type { CheckStore, CheckView } from '../guards/allowlist/port.js'
import { type EngineCalls, outcomeOf, type VerbCalls } from './engine-calls.js'
import type { Tracing } from './tracing.js'
import { CHANGES, CHECKS, type Members, PORT_LIST } from './watched-ports.js'

export interface EngineWatch {
  readonly calls: EngineCalls
  readonly tracing: Tracing
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

type Verb = (...args: unknown[]) => unknown

class PortWatch {
  private readonly views = new WeakMap<CheckView, CheckView>()

  constructor(
    private readonly engine: string,
    private readonly watch: EngineWatch,
  ) {}

  /** `part`: which port, for capabilities with several. */
  port(port: object, members: Members, capability: string, part: string | undefined): object {
    if (members === CHECKS) return this.checks(port as CheckStore)
    const watched: Record<string, unknown> = {}
    for (const name of Object.keys(members) as (keyof typeof port)[]) {
      const member: unknown = port[name]
      if (typeof member !== 'function') {
        Object.defineProperty(watched, name, { enumerable: true, get: () => port[name] })
      } else if (members[name] === 'plain') {
        watched[name] = member.bind(port)
      } else {
        const verb = part === undefined ? name : `${part}.${name}`
        watched[name] = this.verb(port, member as Verb, capability, verb)
      }
    }
    return watched
  }

  private checks(checks: CheckStore): CheckStore {
    return {
      view: (freshness) => whenReady(checks.view(freshness), (view) => this.view(view)),
      readToken: (token) => checks.readToken(token),
    }
  }

  /** Engines have a few views that they return again and again. */
  private view(view: CheckView): CheckView {
    let watched = this.views.get(view)
    if (watched === undefined) {
      watched = {
        list: this.verb(view, view.list as Verb, 'allowlists', 'checks.list') as CheckView['list'],
        member: this.verb(view, view.member as Verb, 'allowlists', 'checks.member') as CheckView['member'],
      }
      this.views.set(view, watched)
    }
    return watched
  }

  private verb(port: object, verb: Verb, capability: string, name: string): Verb {
    const calls = this.watch.calls.of(this.engine, capability, name)
    const { tracing } = this.watch
    return (...args) => {
      const span = tracing.spans?.engineCall(calls)
      if (span !== undefined) return span.around(() => timed(port, verb, args, calls))
      return timed(port, verb, args, calls)
    }
  }
}

function timed(port: object, verb: Verb, args: unknown[], calls: VerbCalls): MaybePromise<unknown> {
  const startedMs = performance.now()
  let answer: MaybePromise<unknown>
  try {
    answer = verb.apply(port, args)
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
