import { mkdirSync, readdirSync, statSync } from 'node:fs'
import { join, sep } from 'node:path'

/** A store holds what opens doors (leases, hashes of keys) and names of customers: nobody but its owner may read it. */
export const OWNER_DIRECTORY = 0o700
export const OWNER_FILE = 0o600
const OTHERS = 0o077

export function makeDirectory(path: string): void {
  mkdirSync(path, { recursive: true, mode: OWNER_DIRECTORY })
}

/**
 * What others than the owner may reach of a store: nothing where its directory is closed to them. Stores that were made
 * by version 0.1.0 are open, and so is a directory that somebody made for a store and left open.
 */
export function openToOthers(directory: string): string[] {
  if (isClosed(directory)) return []
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' })
  const files = names.filter((name) => name.endsWith('.mdb') && !isClosed(join(directory, name)))
  return files.filter((name) => areAllOpen(directory, name)).sort()
}

/** Whoever may not enter a directory reads nothing in it. */
function areAllOpen(directory: string, name: string): boolean {
  const parents = name.split(sep).slice(0, -1)
  return parents.every((_, i) => !isClosed(join(directory, ...parents.slice(0, i + 1))))
}

/** Also what is gone by now. */
function isClosed(path: string): boolean {
  return ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & OTHERS) === 0
}
