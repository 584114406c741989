import { CatracaError } from '../core/errors.js'
import type { Engine, GuardName } from '../engines/engine.js'
import type { AnyCatraca, Catraca } from './open-catraca.js'
import type { OwnEngineOptions } from './open-options.js'
import { PORT_LIST, PORTS } from './watched-ports.js'

const GUARDS = Object.keys(PORTS) as GuardName[]

/** Options that only one guard uses: whoever gives them means to use the guard. */
const OPTIONS_OF: Partial<Record<keyof OwnEngineOptions, GuardName>> = {
  ...{ membership: 'allowlists', import: 'allowlists', onUnavailable: 'allowlists', lastKnown: 'allowlists' },
  ...{ limits: 'limits', idempotency: 'idempotency', codes: 'codes', tokens: 'tokens', locks: 'locks' },
  ...{ cache: 'cache', audit: 'audit' },
}

/** Refuses an engine that somebody else made if it lacks something, so that no call finds out later. */
export function checkOwnEngine(options: OwnEngineOptions & { store?: string }): void {
  const { engine } = options
  if (options.store !== undefined) throw refused('cannot be given together with store')
  if (typeof engine?.name !== 'string' || !isFunction(engine.health) || !isFunction(engine.close)) {
    throw refused('must be an object with name, health() and close()')
  }
  const lacking = PORT_LIST.flatMap((entry) => lackingMembers(engine, entry))
  if (lacking.length > 0) throw refused(`${engine.name} lacks ${lacking.join(', ')}`)
  const offered = GUARDS.filter((guard) => engine[guard])
  if (offered.length === 0) throw refused(`${engine.name} offers no guard: there is ${GUARDS.join(', ')}`)
  const asked = Object.entries(OPTIONS_OF)
    .filter(([option, guard]) => asksFor(options, option as keyof OwnEngineOptions) && !engine[guard])
    .map(([option, guard]) => (option === guard ? guard : `${guard} (which ${option} configures)`))
  if (needsCounters(options)) asked.push('limits (which count attempts of codes)')
  if (asked.length === 0) return
  throw refused(`${engine.name} does not offer ${asked.join(', ')}: it offers ${offered.join(', ')}`)
}

/** Refuses an instance that lacks a guard, for what needs all of them. Sessions are needed only where people sign in. */
export function requireGuards(catraca: AnyCatraca, who: string): asserts catraca is Catraca {
  const missing = GUARDS.filter((guard) => guard !== 'sessions' && catraca[guard] === undefined)
  if (missing.length > 0) throw refused(`does not offer ${missing.join(', ')}, which ${who} needs`)
}

function lackingMembers(engine: Engine, { guard, part, members }: (typeof PORT_LIST)[number]): string[] {
  const offered = engine[guard] as Record<string, object> | undefined
  if (offered === undefined) return []
  const port = part === undefined ? offered : offered[part]
  const path = part === undefined ? guard : `${guard}.${part}`
  if (port === undefined) return [path]
  return Object.keys(members)
    .filter((name) => !(name in port))
    .map((name) => `${path}.${name}`)
}

/** Guards with a store of their own do not need the engine. */
function asksFor(options: OwnEngineOptions, name: keyof OwnEngineOptions): boolean {
  const given = options[name] as
    | { store?: string; enabled?: boolean; redlock?: readonly string[] }
    | undefined
  if (given === undefined || given.enabled === false) return false
  return given.store === undefined && (given.redlock ?? []).length === 0
}

const needsCounters = ({ engine, codes, limits }: OwnEngineOptions): boolean =>
  codes !== undefined && engine.limits === undefined && limits?.store === undefined

const isFunction = (value: unknown): boolean => typeof value === 'function'

const refused = (why: string): CatracaError => new CatracaError('CONFIG_INVALID', `engine ${why}`)
