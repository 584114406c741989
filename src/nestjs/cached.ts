import { randomUUID } from 'node:crypto'
import { encodeIdentifier, encodeName } from '../core/encode-identifier.js'
import { invalid, isCatracaError } from '../core/errors.js'
import { type Fields, KnownFields } from '../core/fields.js'
import { identifier } from '../core/identifiers.js'
import { type SpaceOptions, spaceSettings } from '../guards/cache/options.js'
import type { EntryOptions, Load } from '../guards/cache/types.js'
import { CatracaException } from './exception.js'
import { type MethodCall, type WorkDecorator, wrapped } from './methods.js'
import type { AnyCatraca, Shared } from './tokens.js'

export interface CachedOptions {
  /** The key by the arguments of the method. When absent: the arguments themselves, which must be texts or numbers. */
  // biome-ignore lint/suspicious/noExplicitAny: the arguments of any method.
  key?: (...args: any[]) => string
  /** Overrides the TTL of the space. A function computes it from the value. */
  ttlMs?: EntryOptions['ttlMs']
}

const FIELDS: Fields<CachedOptions> = { key: true, ttlMs: true }
const KNOWN = new KnownFields(FIELDS)

/**
 * Caches what a method of a controller or a service returns, in a space of the configuration, or one with these options. While
 * one caller loads a value, all others on all pods wait for it.
 */
export function Cached(space: string | SpaceOptions, options: CachedOptions = {}): WorkDecorator {
  KNOWN.check(options)
  const { key, ttlMs } = options
  if (typeof space !== 'string') spaceSettings(space)
  const name = typeof space === 'string' ? space : space.name
  return (target, method, descriptor) => {
    const { name: ofClass } = target.constructor
    if (key === undefined) refuseShared(name, `${ofClass}.${String(method)}`)
    const keyOf = (call: MethodCall) =>
      usable(() => (key === undefined ? ownKey(call) : encodeIdentifier(key(...call.args), 'key')))
    const entry = ttlMs === undefined ? {} : { ttlMs }
    wrapped((shared, work, call) => {
      if (key === undefined) refuseNamesake(shared, name, target)
      return openSpace(shared.catraca, space).getOrLoad(keyOf(call), work, entry)
    })(target, method, descriptor)
  }
}

interface AnySpace {
  getOrLoad(key: string, load: Load<unknown>, options: Pick<EntryOptions, 'ttlMs'>): Promise<unknown>
}

/** Keys come from requests: one that is too long is a mistake of the caller. */
function usable(key: () => string): string {
  try {
    return key()
  } catch (error) {
    throw isCatracaError(error) ? CatracaException.of(error, randomUUID()) : error
  }
}

/** A server refuses options of a space: it has its own. */
function openSpace({ cache }: AnyCatraca, space: string | SpaceOptions): AnySpace {
  return (cache as { space(given: string | SpaceOptions): AnySpace }).space(space)
}

/** By the encoding of its parts, no other arguments have the same key. */
function ownKey({ args, name }: MethodCall): string {
  const parts = args.map((arg) => {
    if (typeof arg === 'string' || typeof arg === 'number') return encodeName(String(arg), 'key')
    throw new TypeError(
      `catraca/nestjs: @Cached of ${name} needs a key: an argument is no text and no number`,
    )
  })
  return parts.length === 0 ? 'all' : identifier('key', parts.join(':'))
}

const targets = new WeakMap<Shared, Map<string, object>>()

/** The names of classes are known when they are decorated. Whether two have one name, only their application knows. */
function refuseNamesake(shared: Shared, space: string, target: object): void {
  let bySpace = targets.get(shared)
  if (bySpace === undefined) targets.set(shared, (bySpace = new Map()))
  const first = bySpace.get(space)
  if (first === target) return
  if (first === undefined) bySpace.set(space, target)
  else
    throw invalid(
      'key',
      `must be given: two classes are called ${target.constructor.name}, and cache in ${space}`,
    )
}

const methodsOf = new Map<string, string>()

/** Two methods with the same arguments would get each other's values. */
function refuseShared(space: string, method: string): void {
  const other = methodsOf.get(space) ?? method
  if (other !== method) {
    throw invalid(
      'key',
      `must be given: ${other} and ${method} both cache in ${space} by their arguments alone`,
    )
  }
  methodsOf.set(space, method)
}
