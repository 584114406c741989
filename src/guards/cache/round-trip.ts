import { isDeepStrictEqual, types } from 'node:util'
import { isPlainObject } from '../../core/plain-object.js'

/**
 * The path of the first difference between a value and its decoded copy, such as `.items[2].at (a Date)`.
 * Undefined if they are equal. A missing member equals an undefined one, and 0 equals −0.
 */
export function firstChange(before: unknown, after: unknown, path = ''): string | undefined {
  if (before === after || (Number.isNaN(before) && Number.isNaN(after))) return undefined
  if (typeof before !== 'object' || before === null || typeof after !== 'object' || after === null)
    return described(path, before)
  if (Array.isArray(before) && Array.isArray(after)) return changedItem(before, after, path)
  if (types.isDate(before) && types.isDate(after))
    return Object.is(before.getTime(), after.getTime()) ? undefined : described(path, before)
  if (types.isMap(before) && types.isMap(after)) return changedItem([...before], [...after], path)
  if (types.isSet(before) && types.isSet(after)) return changedItem([...before], [...after], path)
  if (isPlainObject(before) && isPlainObject(after)) return changedMember(before, after, path)
  return isDeepStrictEqual(before, after) ? undefined : described(path, before)
}

function changedItem(
  before: readonly unknown[],
  after: readonly unknown[],
  path: string,
): string | undefined {
  if (before.length !== after.length) return described(path, before)
  for (let i = 0; i < before.length; i++) {
    const change = firstChange(before[i], after[i], `${path}[${i}]`)
    if (change !== undefined) return change
  }
  return undefined
}

function changedMember(before: object, after: object, path: string): string | undefined {
  const [old, made] = [before as Record<string, unknown>, after as Record<string, unknown>]
  let members = 0
  for (const name of Object.keys(old)) {
    if (old[name] === undefined) continue
    members++
    const change = firstChange(
      old[name],
      Object.hasOwn(made, name) ? made[name] : undefined,
      `${path}.${name}`,
    )
    if (change !== undefined) return change
  }
  const kept = Object.keys(made).filter((name) => made[name] !== undefined).length
  return kept === members && Object.getOwnPropertySymbols(before).length === 0
    ? undefined
    : described(path, before)
}

function described(path: string, value: unknown): string {
  return `${path === '' ? 'it' : path} (${kindOf(value)})`
}

function kindOf(value: unknown): string {
  if (typeof value === 'number' || value === undefined || value === null) return String(value)
  if (typeof value !== 'object') return `a ${typeof value}`
  const name = (value as object).constructor?.name
  return name === undefined || name === '' ? 'an object' : `of the class ${name}`
}
