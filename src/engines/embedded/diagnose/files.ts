import { accessSync, constants, existsSync, readdirSync, statfsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Check, type CheckResult, ok, problem, skipped, warning } from '../../../core/diagnosis.js'
import { fileSystemType, NETWORK_FILE_SYSTEMS } from '../lmdb/file-system.js'
import { openProcesses } from '../lmdb/open-processes.js'
import { openToOthers } from '../lmdb/private-files.js'
import { mainDirectory } from '../lmdb/store-directory.js'
import { secretFiles } from '../lmdb/stored-secret.js'
import { bytesText, type EmbeddedFacts } from './context.js'

const PASSING_FILE_SYSTEMS: Record<number, string> = {
  16914839: '9P: several processes may not see the same store',
  16914836: 'tmpfs: the store is lost when the system restarts',
  2240043254: 'ramfs: the store is lost when the system restarts',
  2035054128: 'overlayfs: the store is lost with the container',
  1702057286: 'FUSE: the program behind it decides what a write survives',
}
const LOW_SHARE = 0.1

export const directoryCheck: Check<EmbeddedFacts> = {
  id: 'embedded.directory',
  expects: 'The directory exists and is writable.',
  remedy: 'Give the user of the server permission to read and write the directory and its files.',
  run({ directory }): CheckResult {
    const above = existingAbove(directory)
    if (!isDirectory(above)) return problem(`${above} is not a directory`, 'Name a directory.')
    if (above !== directory) {
      return isWritable(above)
        ? warning(
            'the directory does not exist yet',
            'Nothing, if the store is new: the first start creates it.',
          )
        : problem('the directory does not exist and cannot be created')
    }
    const main = mainDirectory(directory)
    const inside = [main, ...['data.mdb', 'lock.mdb', 'commit-lock'].map((name) => join(main, name))]
    const closed = [directory, ...inside.filter(existsSync)].filter((path) => !isWritable(path))
    return closed.length === 0
      ? ok('it is writable')
      : problem(`no permission to write: ${closed.join(', ')}`)
  },
}

function existingAbove(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : existingAbove(dirname(path))
}

const isDirectory = (path: string): boolean => statSync(path).isDirectory()

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK)
    return true
  } catch {
    return false
  }
}

export const fileSystemCheck: Check<EmbeddedFacts> = {
  id: 'embedded.file-system',
  expects: 'The directory is on a local disk.',
  remedy: 'Move the directory to a local disk: LMDB does not support network file systems.',
  run({ directory }): CheckResult {
    const type = fileSystemType(existingAbove(directory))
    const network = NETWORK_FILE_SYSTEMS[type]
    if (network !== undefined) return problem(`it is on a network file system (${network})`)
    const passing = PASSING_FILE_SYSTEMS[type]
    return passing === undefined
      ? ok(`a local file system (0x${type.toString(16)})`)
      : warning(passing, 'Put the directory on a persistent disk or volume.')
  },
}

export const spaceCheck: Check<EmbeddedFacts> = {
  id: 'embedded.space',
  expects: 'There is free space on the disk, below `embedded.maxSizeBytes` and in the memory map.',
  remedy:
    'Free space on the disk, or raise `embedded.maxSizeBytes`: without space, writes fail with `STORE_FULL`.',
  run({ directory, minFreeBytes, maxSizeBytes, snapshotReader }): CheckResult {
    const { bavail, bsize, blocks } = statfsSync(existingAbove(directory))
    const freeBytes = bavail * bsize
    const { fileBytes, usedBytes, mapBytes } = snapshotReader?.room() ?? {
      ...{ fileBytes: 0, usedBytes: 0 },
      mapBytes: Number.POSITIVE_INFINITY,
    }
    const mostBytes = Math.min(maxSizeBytes ?? Number.POSITIVE_INFINITY, mapBytes)
    const limit = Number.isFinite(mostBytes) ? ` of at most ${bytesText(mostBytes)}` : ''
    const inside = `the data takes ${bytesText(usedBytes)}${limit}, in a file of ${bytesText(fileBytes)}`
    const found = `${inside}; ${bytesText(freeBytes)} are free on the disk`
    if (freeBytes < minFreeBytes || usedBytes > mostBytes) return problem(found)
    const isLow = freeBytes < Math.max(2 * minFreeBytes, Math.min(fileBytes, LOW_SHARE * blocks * bsize))
    return isLow || usedBytes > (1 - 2 * LOW_SHARE) * mostBytes ? warning(found) : ok(found)
  },
}

export const processCheck: Check<EmbeddedFacts> = {
  id: 'embedded.processes',
  expects: 'No process that has the store open is suspended.',
  remedy: 'Resume the suspended process, or kill it: while it holds the lock, no process can write.',
  run({ directory, snapshotReader }): CheckResult {
    const others = openProcesses(directory, snapshotReader?.readers())
    const stopped = others.filter(({ isStopped }) => isStopped).map(({ pid }) => pid)
    if (stopped.length > 0) return problem(`suspended, with the store open: process ${stopped.join(', ')}`)
    if (others.length === 0) return ok('no other process has it open')
    return ok(`open in process ${others.map(({ pid }) => pid).join(', ')}`)
  },
}

export const secretCheck: Check<EmbeddedFacts> = {
  id: 'embedded.secrets',
  expects: 'Only the owner can read the secrets that are stored beside the data.',
  remedy: 'chmod 600 the file, and change the secret if others may have read it.',
  run({ directory }): CheckResult {
    if (!existsSync(directory) || !isDirectory(directory)) return skipped('there is no directory')
    const files = secretFiles(readdirSync(directory))
    const open = files.filter((name) => (statSync(join(directory, name)).mode & 0o077) !== 0)
    if (open.length > 0) return problem(`others may read ${open.join(', ')}`)
    return ok(files.length === 0 ? 'none is kept' : `${files.join(', ')}: only the owner may read it`)
  },
}

export const rightsCheck: Check<EmbeddedFacts> = {
  id: 'embedded.rights',
  expects: 'Only the owner can read the store: it holds members, hashes of keys and the secret of leases.',
  remedy: 'chmod -R go-rwx the directory. If others may have read it, replace the API keys.',
  run({ directory }): CheckResult {
    if (!existsSync(directory) || !isDirectory(directory)) return skipped('there is no directory')
    const open = openToOthers(directory)
    return open.length === 0
      ? ok('only the owner may read it')
      : problem(`others may read ${open.join(', ')}`)
  },
}

export const durabilityCheck: Check<EmbeddedFacts> = {
  id: 'embedded.durability',
  expects: 'An acknowledged write survives a loss of power.',
  remedy: 'Set `embedded.durability` to `disk`, unless a power loss may lose the last second.',
  run: ({ durability }) =>
    durability === 'disk'
      ? ok('writes wait for the disk')
      : warning('writes do not wait for the disk: a loss of power may lose a second, or damage the file'),
}
