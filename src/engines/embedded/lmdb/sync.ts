import { closeSync, fsyncSync, mkdirSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isAlive } from './open-processes.js'

/** Flushes the file to disk. */
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
  /** Renames it to the target, which must not exist or be an empty directory. */
  publish(): void
  discard(): void
}

/**
 * A directory beside the target, under a name that shows it is incomplete. If the process is killed, the leftover
 * cannot be taken for a whole one. Leftovers of earlier runs are removed.
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

/** Flushes every directory below too, so that file names survive a crash. */
export function syncTree(directory: string): void {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) syncTree(path)
    else syncPath(path)
  }
  syncPath(directory)
}
