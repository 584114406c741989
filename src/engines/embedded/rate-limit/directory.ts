import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { makeDirectory } from '../lmdb/private-files.js'
import type { Durability } from '../options.js'

const BOOT_ID_FILE = '/proc/sys/kernel/random/boot_id'
const BOOT_PREFIX = 'boot-'

/**
 * The directory of the counters. Counters that are not flushed at each commit may be damaged by a crash of the
 * system. So each boot uses a new directory and removes earlier ones. Counters with durability `disk` survive a boot,
 * in a separate directory.
 */
export function countersDirectory(store: string, durability: Durability): string {
  const parent = join(store, 'limits')
  if (durability === 'process') return bootDirectory(parent)
  makeDirectory(parent)
  return join(parent, 'disk')
}

/** A directory inside `parent` for data that may be lost when the system crashes. */
export function bootDirectory(parent: string): string {
  makeDirectory(parent)
  const name = bootName()
  for (const other of readdirSync(parent)) {
    if (other.startsWith(BOOT_PREFIX) && other !== name)
      rmSync(join(parent, other), { recursive: true, force: true })
  }
  return join(parent, name)
}

/** Name of the directory of this boot. */
export const bootName = (): string => `${BOOT_PREFIX}${bootId()}`

/**
 * The same for all processes since the system started. Systems that do not report a boot id always use the same one.
 */
function bootId(): string {
  try {
    return readFileSync(BOOT_ID_FILE, 'utf8').replace(/[^0-9a-f]/g, '')
  } catch {
    return 'unknown'
  }
}
