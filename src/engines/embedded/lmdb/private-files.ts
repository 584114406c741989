import { mkdirSync, readdirSync, statSync } from 'node:fs'
import { join, sep } from 'node:path'

/** A store holds leases, hashes of API keys and names of customers: only its owner may read it. */
export const OWNER_DIRECTORY = 0o700
export const OWNER_FILE = 0o600
const OTHERS = 0o077

export function makeDirectory(path: string): void {
  mkdirSync(path, { recursive: true, mode: OWNER_DIRECTORY })
}

/**
 * Files of a store that other users may access. There are none if its directory is closed to others. Stores of
 * version 0.1.0 are open, and so is a directory that was created with open permissions.
 */
export function openToOthers(directory: string): string[] {
  if (isClosed(directory)) return []
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' })
  const files = names.filter((name) => name.endsWith('.mdb') && !isClosed(join(directory, name)))
  return files.filter((name) => areAllOpen(directory, name)).sort()
}

/** A user who may not enter a directory cannot read the files in it. */
function areAllOpen(directory: string, name: string): boolean {
  const parents = name.split(sep).slice(0, -1)
  return parents.every((_, i) => !isClosed(join(directory, ...parents.slice(0, i + 1))))
}

/** A file that does not exist counts as closed. */
function isClosed(path: string): boolean {
  return ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & OTHERS) === 0
}
