import { chownSync, readdirSync, statfsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { CatracaError } from '../../../core/errors.js'

/** File systems that several machines can mount at once, by their numbers in statfs(2). */
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

/** Locks and shared memory do not reach other machines: two machines would corrupt a store on a network file system. */
export function refuseNetworkFileSystem(directory: string, type = fileSystemType(directory)): void {
  const name = NETWORK_FILE_SYSTEMS[type]
  if (name === undefined) return
  throw new CatracaError(
    'STORE_UNUSABLE',
    `${directory} is on a network file system (${name}): use a local disk, or Redis or DynamoDB for several machines`,
  )
}

/**
 * If root runs a command on the store of a server that is not root, the files that it creates go to the server's
 * user.
 */
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
