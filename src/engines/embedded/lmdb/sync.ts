import { closeSync, fsyncSync, mkdirSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isAlive } from './open-processes.js'

/** On the disk, and not only in the memory of the system. */
export function syncPath(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

export interface Draft {
  readonly path: string
  /** Gives it its name, which was not there until now or was an empty directory. */
  publish(): void
  discard(): void
}

/**
 * A directory beside the one that it is going to be: under a name that nobody takes for the real one, so that what a
 * killed process leaves is seen to be half. What earlier ones left is removed.
 */
export function draftOf(target: string, word: string): Draft {
  const parent = dirname(target)
  mkdirSync(parent, { recursive: true })
  const prefix = `${basename(target)}.${word}-`
  for (const name of readdirSync(parent)) {
    if (!name.startsWith(prefix)) continue
    const pid = Number(name.slice(prefix.length))
    if (Number.isInteger(pid) && pid > 0 && !isAlive(pid)) rmSync(join(parent, name), { recursive: true })
  }
  const path = join(parent, `${prefix}${process.pid}`)
  mkdirSync(path, { mode: 0o700 })
  return {
    path,
    publish() {
      renameSync(path, target)
      syncPath(parent)
    },
    discard: () => rmSync(path, { recursive: true, force: true }),
  }
}

/** Every directory below, so that the names of files survive too. */
export function syncTree(directory: string): void {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) syncTree(path)
    else syncPath(path)
  }
  syncPath(directory)
}
