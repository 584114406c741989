import { isPlainObject } from '../../core/plain-object.js'

/**
 * A value that no reader can change for others: one frozen object for all readers, or a copy for each if it cannot
 * be frozen. If both fields are undefined, the source has no value.
 */
export interface Content<T> {
  readonly shared: T | undefined
  readonly copy: (() => T) | undefined
}

export const NO_CONTENT: Content<never> = { shared: undefined, copy: undefined }

export const isNone = ({ shared, copy }: Content<unknown>): boolean =>
  shared === undefined && copy === undefined

export const contentValue = <T>({ shared, copy }: Content<T>): T | undefined =>
  copy === undefined ? shared : copy()

/** False: part of it can be changed even when frozen, such as a Date, a Map or bytes. */
export function deepFreeze(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return typeof value !== 'function'
  if (!Array.isArray(value) && !isPlainObject(value)) return false
  for (const key of Object.keys(value)) {
    if (!deepFreeze((value as Record<string, unknown>)[key])) return false
  }
  Object.freeze(value)
  return true
}
