import type { Environment } from './environment.js'

const ROWS_AT_ONCE = 1000

/** Deletes rows whose time has come, many in one transaction. Looks first, without the write lock: mostly there are none. */
export async function sweepDue<Key>(
  environment: Environment,
  due: (limit: number) => readonly Key[],
  remove: (key: Key) => void,
): Promise<{ more: boolean }> {
  environment.refresh()
  if (due(1).length === 0) return { more: false }
  return environment.free(() => {
    const keys = due(ROWS_AT_ONCE)
    for (const key of keys) remove(key)
    return { more: keys.length === ROWS_AT_ONCE }
  })
}
