import { Inject } from '@nestjs/common'
import { isObservable } from 'rxjs'
import { SHARED, type Shared } from './tokens.js'

// biome-ignore lint/suspicious/noExplicitAny: methods of any class, with any arguments.
export type AnyMethod = (...args: any[]) => Promise<any>

/** A decorator for methods of controllers and of all that Nest makes, such as services. */
export type WorkDecorator = <Method extends AnyMethod>(
  target: object,
  name: string | symbol,
  descriptor: TypedPropertyDescriptor<Method>,
) => void

type Wrap = (shared: Shared, work: () => Promise<unknown>, call: MethodCall) => Promise<unknown>

export interface MethodCall {
  args: unknown[]
  /** `Class.method`, for messages. */
  name: string
}

/** Where Nest puts what the wrappers of an object need. */
const SHARED_OF = Symbol('catraca')

/** Replaces a method by one that calls it through `wrap`. */
export function wrapped(wrap: Wrap): WorkDecorator {
  return (target, key, descriptor) => {
    const original = descriptor.value as AnyMethod | undefined
    const { name: ofClass } = typeof target === 'function' ? target : target.constructor
    const name = `${ofClass}.${String(key)}`
    if (typeof original !== 'function') throw new TypeError(`catraca/nestjs: ${name} is not a method`)
    if (typeof target === 'function')
      throw new TypeError(`catraca/nestjs: ${name} is static: Nest makes objects`)
    Inject(SHARED)(target, SHARED_OF)
    const replaced: AnyMethod = function (this: { [SHARED_OF]?: Shared }, ...args) {
      const shared = this[SHARED_OF]
      if (shared === undefined) {
        return Promise.reject(new Error(`catraca/nestjs: ${name} needs an object that Nest has made`))
      }
      const work = async () => awaited(await original.apply(this, args), name)
      const run = async () => wrap(shared, work, { args, name })
      return shared.works.track(run())
    }
    Object.defineProperty(replaced, 'name', { value: original.name })
    copyMetadata(original, replaced)
    descriptor.value = replaced as never
  }
}

/** An Observable begins when Nest asks for it: without the lock, and behind the cache. */
function awaited(result: unknown, name: string): unknown {
  if (!isObservable(result)) return result
  throw new TypeError(`catraca/nestjs: ${name} gives an Observable: return a promise, by lastValueFrom`)
}

/** What other decorators have said of the method, such as its route. */
function copyMetadata(from: object, to: object): void {
  const { getOwnMetadataKeys, getOwnMetadata, defineMetadata } = Reflect as unknown as Metadata
  for (const key of getOwnMetadataKeys(from)) defineMetadata(key, getOwnMetadata(key, from), to)
}

/** Of reflect-metadata, which Nest needs and loads. */
interface Metadata {
  getOwnMetadataKeys(target: object): unknown[]
  getOwnMetadata(key: unknown, target: object): unknown
  defineMetadata(key: unknown, value: unknown, target: object): void
}
