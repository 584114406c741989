import { openAsClass, type RootDatabase, type RootDatabaseOptionsWithPath } from 'lmdb'

const ATTEMPTS = 200
const LONGEST_PAUSE_MS = 10

/**
 * Opens an LMDB environment. The last process that closes one destroys its locks, and a process that opens it in that
 * moment finds them destroyed ("Invalid argument"). It then closes the environment and opens it again: whoever is
 * alone with the files makes the locks anew.
 */
export function openLmdb(options: RootDatabaseOptionsWithPath): RootDatabase {
  for (let attempt = 1; ; attempt++) {
    // In two steps, because only the first one gives something that can be closed when the second one fails.
    const Root = openAsClass(options) as unknown as new (name: null, options: object) => RootDatabase
    try {
      return new Root(null, { ...options, isRoot: true })
    } catch (error) {
      void Root.prototype.close.call(Object.assign(Object.create(Root.prototype), { isRoot: true }))
      if (attempt === ATTEMPTS || !(error as Error).message.startsWith('Invalid argument')) throw error
      pause(Math.random() * LONGEST_PAUSE_MS)
    }
  }
}

function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
