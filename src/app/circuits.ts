import { isPromise, type MaybePromise, whenReady } from '../core/maybe-promise.js'
import type { Engine, EnginePorts, GuardName } from '../engines/engine.js'
import type { Position } from '../guards/allowlist/changes/port.js'
import type { CheckedList, CheckStore, CheckView } from '../guards/allowlist/port.js'
import { Circuit, type CircuitParts } from './circuit.js'
import { type Decoration, decorated } from './decorate.js'
import { CHECKS, type Members, PORT_LIST } from './watched-ports.js'

/** A name that no caller stores anything under. */
const NOTHING = 'catraca-circuit-probe'

/** How each capability is asked whether its store answers. API keys are read by one follower, which waits for nobody. */
const PROBES: {
  readonly [Guard in GuardName]?: (port: EnginePorts[Guard], now: number) => MaybePromise<unknown>
} = {
  allowlists: ({ lists }) => lists.get(NOTHING),
  sessions: (port) => port.read(NOTHING),
  limits: ({ configs }) => configs.read([{ level: 'system', resource: NOTHING }], undefined),
  idempotency: (port, now) => port.read({ operation: NOTHING, key: NOTHING }, now),
  codes: (port, now) => port.peek({ channel: 'email', address: NOTHING, purpose: '' }, now),
  tokens: (port, now) => port.find(NOTHING, undefined, now),
  locks: (port, now) => port.read(NOTHING, now),
  cache: (port, now) => port.read(NOTHING, [NOTHING], now),
  audit: (port) => port.read('1', '0', 1),
}

/** Long work in the background, which nobody waits for. */
const BACKGROUND = new Set(['bulk', 'index', 'upkeep'])

/** Verbs that change nothing. */
const READS = new Set([
  ...['get', 'page', 'listsOf', 'list', 'member', 'position', 'read', 'find', 'peek', 'salt', 'status'],
  'listEntities',
])

/**
 * Until these arrive, other processes read what they remove. The guard sends them in the background until the store
 * takes them, and keeps no caller waiting, so they are never refused. The first that is taken closes the circuit.
 */
const OWED: { readonly [Guard in GuardName]?: ReadonlySet<string> } = {
  cache: new Set(['remove', 'removeTag', 'clear']),
}

/** The circuits of all engines of an instance. */
export class Circuits {
  private readonly circuits: Circuit[] = []

  constructor(private readonly report: CircuitParts['report']) {}

  /** The same ports, with circuits in front. */
  protect(engine: Engine, ports: Partial<EnginePorts>): Partial<EnginePorts> {
    const made: Record<string, object> = {}
    const ofGuard = new Map<GuardName, OfGuard>()
    for (const { guard, part, members } of PORT_LIST) {
      const offered = ports[guard] as Record<string, object> | undefined
      if (offered === undefined) continue
      const port = part === undefined ? offered : offered[part]!
      if (!ofGuard.has(guard)) ofGuard.set(guard, this.circuitsOf(engine, guard, ports))
      // What is answered from mapped memory waits for no store.
      const isMapped = engine.answersFromMemory && (part === 'checks' || part === 'changes')
      const isPlain = isMapped || (part !== undefined && BACKGROUND.has(part))
      const safe = isPlain ? port : protectedPort(port, members, ofGuard.get(guard), OWED[guard])
      made[guard] = part === undefined ? safe : { ...made[guard], [part]: safe }
    }
    return made as Partial<EnginePorts>
  }

  private circuitsOf(engine: Engine, guard: GuardName, ports: Partial<EnginePorts>): OfGuard {
    const ask = PROBES[guard] as ((port: unknown, now: number) => MaybePromise<unknown>) | undefined
    if (ask === undefined) return undefined
    const { report } = this
    const parts = {
      engine: engine.name,
      capability: guard,
      report,
      probe: () => ask(ports[guard], Date.now()),
    }
    const read = new Circuit({ ...parts, kind: 'read' })
    const write = new Circuit({ ...parts, kind: 'write', behind: read })
    this.circuits.push(read, write)
    return { read, write }
  }

  rows(): readonly Circuit[] {
    return this.circuits
  }

  close(): void {
    for (const circuit of this.circuits) circuit.stop()
  }
}

type OfGuard = Record<'read' | 'write', Circuit> | undefined

function protectedPort(
  port: object,
  members: Members,
  circuits: OfGuard,
  owed?: ReadonlySet<string>,
): object {
  if (circuits === undefined) return port
  if (members === CHECKS) return protectedChecks(port as CheckStore, circuits.read)
  const protect: Decoration = (name, method) => {
    if (members[name] === 'plain') return method
    const circuit = circuits[READS.has(name) ? 'read' : 'write']
    return (...args) => {
      const refusal = owed?.has(name) === true ? undefined : circuit.refuse()
      return refusal === undefined ? circuit.run(() => method(...args)) : Promise.reject(refusal)
    }
  }
  return decorated(port, members, protect)
}

function protectedChecks(checks: CheckStore, circuit: Circuit): CheckStore {
  const views = new WeakMap<CheckView, CheckView>()
  const protectedView = (view: CheckView): CheckView => {
    let known = views.get(view)
    if (known === undefined) views.set(view, (known = new ProtectedView(view, circuit)))
    return known
  }
  return {
    view: (freshness) => whenReady(checks.view(freshness), protectedView),
    readToken: (token) => checks.readToken(token),
    tokenAt: (list, position) => checks.tokenAt(list, position),
  }
}

/**
 * An engine answers most reads of lists from memory, also a while after it lost its store. So lists are always asked
 * for; only nobody waits while the circuit is open, and each list is asked for once at a time.
 */
class ProtectedView implements CheckView {
  private readonly asking = new Set<string>()

  constructor(
    private readonly view: CheckView,
    private readonly circuit: Circuit,
  ) {}

  list(listId: string): MaybePromise<CheckedList | undefined> {
    const { circuit, asking } = this
    const refusal = circuit.refuse()
    if (refusal === undefined) return circuit.run(() => this.view.list(listId))
    if (asking.has(listId)) return Promise.reject(refusal)
    const answer = this.view.list(listId)
    if (!isPromise(answer)) return answer
    asking.add(listId)
    answer
      .then(circuit.answered, () => {})
      .finally(() => {
        asking.delete(listId)
      })
    return Promise.reject(refusal)
  }

  member(list: CheckedList, customerId: string, atLeast?: Position) {
    const refusal = this.circuit.refuse()
    return refusal === undefined
      ? this.circuit.run(() => this.view.member(list, customerId, atLeast))
      : Promise.reject(refusal)
  }
}
