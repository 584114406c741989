import { CatracaError, invalid, isCatracaError } from './errors.js'

/** What calls that change many records at once have in common. */

/** Most records that one call changes. */
const MAX_CHANGES = 10_000
/** Most records that a message names. */
const MAX_NAMED = 5

/** Refuses lists that are too long or name a record twice. The error of a change begins with its place. */
export function checkChanges<C, T>(
  changes: readonly C[],
  check: (change: C) => [name: string, parsed: T],
): T[] {
  if (!Array.isArray(changes) || changes.length > MAX_CHANGES)
    throw invalid('changes', `must be a list of at most ${MAX_CHANGES} changes`)
  const names = new Set<string>()
  return changes.map((change, i) => {
    const path = `changes[${i}]`
    if (typeof change !== 'object' || change === null) throw invalid(path, 'must be an object')
    const [name, parsed] = within(path, () => check(change))
    if (names.has(name)) throw invalid(path, `changes ${name} a second time`)
    names.add(name)
    return parsed
  })
}

/** Runs a check of one change; its error begins with the place of the change. */
export function within<T>(path: string, check: () => T): T {
  try {
    return check()
  } catch (error) {
    if (!isCatracaError(error, 'INVALID_INPUT')) throw error
    const errors = (error.errors ?? []).map((one) => ({ ...one, path: `${path}.${one.path}` }))
    throw new CatracaError('INVALID_INPUT', `${path}.${error.message}`, { errors })
  }
}

/** Names what is not as the caller read it. */
export function conflict(names: readonly string[], changed: number): never {
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : ''
  const made = changed === 0 ? 'nothing was changed' : `${changed} changes were made before`
  const what = `${names.slice(0, MAX_NAMED).join(', ')}${more}`
  throw new CatracaError('VERSION_MISMATCH', `somebody else changed ${what}: ${made}`, {
    facts: { conflicts: names.slice(0, 100), changed },
  })
}
