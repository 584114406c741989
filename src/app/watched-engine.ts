import { isPromise, type MaybePromise, whenReady } from '../core/maybe-promise.js'
import type { AllowlistEngine, CheckStore, CheckView } from '../guards/allowlist/port.js'
import type { LimitEngine } from '../guards/rate-limit/port.js'
import { type Decoration, decorated, type Method } from './decorate.js'
import { type EngineCalls, outcomeOf, type VerbCalls } from './engine-calls.js'
import type { StoreEngine } from './open-engine.js'
import type { Tracing } from './tracing.js'
import * as ports from './watched-ports.js'

export interface EngineWatch {
  readonly calls: EngineCalls
  readonly tracing: Tracing
}

/** The same engine, with each call timed, counted and, if the host collects traces, traced. */
export function watchedEngine(engine: StoreEngine, watch: EngineWatch): StoreEngine {
  const of = new PortWatch(engine.name, watch)
  return {
    ...engine,
    allowlists: watchedAllowlists(engine, of),
    keys: of.port(engine.keys, ports.KEYS, 'keys'),
    limits: watchedLimits(engine.limits, of),
    idempotency: of.port(engine.idempotency, ports.IDEMPOTENCY, 'idempotency'),
    codes: of.port(engine.codes, ports.CODES, 'codes'),
    tokens: of.port(engine.tokens, ports.TOKENS, 'tokens'),
    locks: of.port(engine.locks, ports.LOCKS, 'locks'),
    cache: of.port(engine.cache, ports.CACHE, 'cache'),
    audit: of.port(engine.audit, ports.AUDIT, 'audit'),
  }
}

function watchedAllowlists({ name, allowlists }: StoreEngine, of: PortWatch): AllowlistEngine {
  const { lists, members, checks, bulk, changes, index, upkeep } = allowlists
  // The embedded engine answers these synchronously from mapped memory, for every check.
  // Reading a clock would cost more.
  const isInMemory = name === 'embedded'
  return {
    lists: of.port(lists, ports.LISTS, 'allowlists', 'lists'),
    members: of.port(members, ports.MEMBERS, 'allowlists', 'members'),
    checks: isInMemory ? checks : of.checks(checks),
    bulk: of.port(bulk, ports.BULK, 'allowlists', 'bulk'),
    changes: isInMemory ? changes : of.port(changes, ports.CHANGES, 'allowlists', 'changes'),
    index: of.port(index, ports.INDEX, 'allowlists', 'index'),
    upkeep: of.port(upkeep, ports.UPKEEP, 'allowlists', 'upkeep'),
  }
}

function watchedLimits({ counters, configs, usage }: LimitEngine, of: PortWatch): LimitEngine {
  return {
    counters: of.port(counters, ports.COUNTERS, 'limits', 'counters'),
    configs: of.port(configs, ports.CONFIGS, 'limits', 'configs'),
    usage: of.port(usage, ports.USAGE, 'limits', 'usage'),
  }
}

class PortWatch {
  private readonly views = new WeakMap<CheckView, CheckView>()

  constructor(
    private readonly engine: string,
    private readonly watch: EngineWatch,
  ) {}

  /** `part`: which port, for capabilities with several. */
  port<Port extends object>(
    port: Port,
    members: ports.Watched<Port>,
    capability: string,
    part?: string,
  ): Port {
    const watch: Decoration = (name, method) => {
      if (members[name as keyof Port] === 'plain') return method
      return this.verb(method, capability, part === undefined ? name : `${part}.${name}`)
    }
    return decorated(port, members, watch)
  }

  checks(checks: CheckStore): CheckStore {
    return {
      view: (freshness) => whenReady(checks.view(freshness), (view) => this.view(view)),
      readToken: (token) => checks.readToken(token),
    }
  }

  /** Engines have a few views that they return again and again. */
  private view(view: CheckView): CheckView {
    let watched = this.views.get(view)
    if (watched === undefined) {
      const watch: Decoration = (name, method) => this.verb(method, 'allowlists', `checks.${name}`)
      watched = decorated(view, ports.VIEW, watch)
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
