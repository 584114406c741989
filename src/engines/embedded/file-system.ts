import { statfsSync } from 'node:fs'
import { CatracaError } from '../../errors.js'

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
