import { resolve } from 'node:path'
import { invalid } from '../core/errors.js'
import type { BackupOptions } from '../engines/embedded/backup/backup.js'
import type { Manifest } from '../engines/embedded/backup/manifest.js'
import type { Restored } from '../engines/embedded/backup/restore.js'
import { storeUrlOf } from '../engines/registry.js'

export type { Manifest, Restored }

type Progress = NonNullable<BackupOptions['onProgress']>

/** A consistent copy of an embedded store, while it is in use. */
export async function backUpStore(
  store: string,
  target: string,
  options: { version: string; withCache: boolean; onProgress: Progress },
): Promise<Manifest> {
  const directory = directoryOf(store)
  const { backUp } = await import('../engines/embedded/backup/backup.js')
  return backUp({ ...options, directory, target: resolve(target) })
}

export async function restoreStore(
  store: string,
  source: string,
  options: { force: boolean; onProgress: Progress },
): Promise<Restored> {
  const directory = directoryOf(store)
  const { restore } = await import('../engines/embedded/backup/restore.js')
  return restore({ ...options, directory, source: resolve(source) })
}

export async function verifyStoreBackup(source: string, onProgress: Progress): Promise<Manifest> {
  const { verifyBackup } = await import('../engines/embedded/backup/restore.js')
  return verifyBackup(resolve(source), onProgress)
}

function directoryOf(store: string): string {
  const path = storeUrlOf('embedded', store)?.path
  if (path !== undefined) return resolve(path)
  const scheme = store.slice(0, store.indexOf(':')).toLowerCase()
  throw invalid(
    'store',
    `must be an embedded: URL for this, not ${scheme}: see docs/guides/backup-and-recovery.md for other engines`,
  )
}
