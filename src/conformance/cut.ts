import { CatracaError } from '../core/errors.js'

export interface Cut<Port> {
  /** The port, whose methods fail while `isAway`. */
  readonly port: Port
  isAway: boolean
}

/** These ask nothing of the store; only the methods of a view do. */
const LOCAL = new Set<string | symbol>(['view', 'readToken', 'hasChanges', 'watch'])

/** A port that a case can cut off from its store, as a network does. What it answers is the engine's. */
export function cuttable<Port extends object>(port: Port): Cut<Port> {
  const cut = { port, isAway: false }
  const through = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(_, name) {
        const member: unknown = Reflect.get(target, name)
        if (typeof member === 'function') return cutMethod(target, member as Method, name)
        return typeof member === 'object' && member !== null ? through(member) : member
      },
    })
  const cutMethod =
    (target: object, method: Method, name: string | symbol): Method =>
    (...args) => {
      if (cut.isAway && !LOCAL.has(name))
        return Promise.reject(new CatracaError('ENGINE_UNAVAILABLE', 'the store was cut off'))
      const answer = method.apply(target, args)
      return name === 'view' && !(answer instanceof Promise) ? through(answer as object) : answer
    }
  cut.port = through(port)
  return cut
}

type Method = (...args: unknown[]) => unknown
