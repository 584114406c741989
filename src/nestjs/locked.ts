import { randomUUID } from 'node:crypto'
import { encodeIdentifier } from '../core/encode-identifier.js'
import { isCatracaError } from '../core/errors.js'
import { type Fields, KnownFields } from '../core/fields.js'
import type { HeldLock, WithLockOptions } from '../guards/lock/types.js'
import { CatracaException } from './exception.js'
import { type WorkDecorator, wrapped } from './methods.js'

export type LockedOptions = Omit<WithLockOptions, 'signal'>

type Names = string | readonly string[]

const FIELDS: Fields<LockedOptions> = { ttlMs: true, waitMs: true, autoExtend: true }
const KNOWN = new KnownFields(FIELDS)

/**
 * Runs a method of a controller or a service while holding a lock, or several. The name may come from the arguments of the
 * method. `@Fence()` and `@LockSignal()` inject what the method needs of the lock.
 */
export function Locked(
  // biome-ignore lint/suspicious/noExplicitAny: the arguments of any method.
  name: Names | ((...args: any[]) => Names),
  options: LockedOptions = {},
): WorkDecorator {
  KNOWN.check(options)
  return (target, key, descriptor) => {
    // Decorators of parameters run before those of their method.
    const injected = injectedInto(target, key)
    wrapped(async ({ catraca }, work, { args }) => {
      const names = [typeof name === 'function' ? name(...args) : name].flat()
      let hasBegun = false
      try {
        const encoded = names.map((one) => encodeIdentifier(one, 'name'))
        return await catraca.locks.withLock(encoded, options, (lock) => {
          hasBegun = true
          for (const { index, from } of injected) args[index] = from(lock)
          return work()
        })
      } catch (error) {
        if (hasBegun || !isCatracaError(error)) throw error
        throw CatracaException.of(error, randomUUID())
      }
    })(target, key, descriptor)
  }
}

/** Injects the fence of the lock: the resource should refuse an older one. */
export const Fence = (): ParameterDecorator => inject((lock) => lock.fence)

/** Injects the signal that is aborted when the lock is lost. */
export const LockSignal = (): ParameterDecorator => inject((lock) => lock.signal)

interface Injected {
  index: number
  from: (lock: HeldLock) => unknown
}

const injections = new WeakMap<object, Map<string | symbol, Injected[]>>()

const injectedInto = (target: object, key: string | symbol): Injected[] =>
  injections.get(target)?.get(key) ?? []

function inject(from: Injected['from']): ParameterDecorator {
  return (target, key, index) => {
    if (key === undefined) throw new TypeError('catraca/nestjs: a lock is injected into methods only')
    const ofClass = injections.get(target) ?? new Map<string | symbol, Injected[]>()
    injections.set(target, ofClass)
    ofClass.set(key, [...(ofClass.get(key) ?? []), { index, from }])
  }
}
