import { chownSync, readdirSync, statfsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { CatracaError } from '../../../core/errors.js'

/** By their numbers in statfs(2): file systems that several machines can use at once. */
export const NETWORK_FILE_SYSTEMS: Readonly<Record<number, string>> = {
  26985: 'NFS',
  20859: 'SMB',
  4283649346: 'CIFS',
  4266872130: 'SMB2',
  12805120: 'Ceph',
  1397113167: 'AFS',
  1799439955: 'AFS',
  1196443219: 'GPFS',
  198183888: 'Lustre',
  18225520: 'GFS2',
  1952539503: 'OCFS2',
}

/** The kind of the file system that holds `path`. */
export function fileSystemType(path: string): number {
  // The number is signed on some systems.
  return Number(statfsSync(path).type) >>> 0
}

/** Locks and memory that processes share end at the machine: on a network file system two machines would destroy a store. */
export function refuseNetworkFileSystem(directory: string, type = fileSystemType(directory)): void {
  const name = NETWORK_FILE_SYSTEMS[type]
  if (name === undefined) return
  throw new CatracaError(
    'STORE_UNUSABLE',
    `${directory} is on a network file system (${name}): use a local disk, or Redis or DynamoDB for several machines`,
  )
}

/** Root may run a command on the store of a server that is not root: what it makes there belongs to the server's user. */
export function giveToOwner(directory: string): void {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = statSync(dirname(directory))
  if (uid === 0) return
  const inside = readdirSync(directory, { recursive: true, encoding: 'utf8' }).map((name) =>
    join(directory, name),
  )
  for (const path of [directory, ...inside]) {
    const stats = statSync(path, { throwIfNoEntry: false })
    if (stats?.uid === 0) chownSync(path, uid, gid)
  }
}
