import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Durability } from '../lmdb/environment.js'
import { makeDirectory } from '../lmdb/private-files.js'

const BOOT_ID_FILE = '/proc/sys/kernel/random/boot_id'
const BOOT_PREFIX = 'boot-'

/**
 * Where counters are. Those that do not wait for the disk may be damaged by a crash of the system, so each boot begins
 * with a new directory and the ones before are removed. What survives a boot is in a directory of its own.
 */
export function countersDirectory(store: string, durability: Durability): string {
  const parent = join(store, 'limits')
  if (durability === 'process') return bootDirectory(parent)
  makeDirectory(parent)
  return join(parent, 'disk')
}

/** A directory for what may be lost with the system, in `parent`. */
export function bootDirectory(parent: string): string {
  makeDirectory(parent)
  const name = bootName()
  for (const other of readdirSync(parent)) {
    if (other.startsWith(BOOT_PREFIX) && other !== name)
      rmSync(join(parent, other), { recursive: true, force: true })
  }
  return join(parent, name)
}

/** What the directory of this boot is called. */
export const bootName = (): string => `${BOOT_PREFIX}${bootId()}`

/** The same for all processes since the system was started; where it is not told, the same for ever. */
function bootId(): string {
  try {
    return readFileSync(BOOT_ID_FILE, 'utf8').replace(/[^0-9a-f]/g, '')
  } catch {
    return 'unknown'
  }
}
