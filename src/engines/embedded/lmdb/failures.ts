import { CatracaError, type ErrorCode } from '../../../core/errors.js'

const BY_SYSTEM_CODE: Record<string, ErrorCode> = {
  ENOSPC: 'STORE_FULL',
  EDQUOT: 'STORE_FULL',
  EFBIG: 'STORE_FULL',
  EACCES: 'STORE_UNUSABLE',
  EPERM: 'STORE_UNUSABLE',
  EROFS: 'STORE_UNUSABLE',
  ENOTDIR: 'STORE_UNUSABLE',
  EEXIST: 'STORE_UNUSABLE',
  EIO: 'STORE_UNUSABLE',
}

const BY_MESSAGE: [RegExp, ErrorCode][] = [
  [/MDB_MAP_FULL|No space left|ENOSPC|File too large|quota/i, 'STORE_FULL'],
  [/MDB_CORRUPTED|MDB_INVALID|MDB_PAGE_NOTFOUND|MDB_VERSION_MISMATCH|MDB_PANIC/, 'STORE_CORRUPT'],
  [/MDB_READERS_FULL/, 'STORE_UNUSABLE'],
  [/Permission denied|Read-only file system|not a directory/i, 'STORE_UNUSABLE'],
  // LMDB also says so when only a part of a page was written, as at the end of a full disk.
  [/Input\/output error/, 'STORE_UNUSABLE'],
  [/closed database|Database is closed|has been closed/i, 'CLOSED'],
]

/** Converts a failure of LMDB or the file system to a CatracaError. */
export function storeError(error: unknown, directory: string): unknown {
  if (error instanceof CatracaError || !(error instanceof Error)) return error
  const system = BY_SYSTEM_CODE[(error as NodeJS.ErrnoException).code ?? '']
  const code = system ?? BY_MESSAGE.find(([pattern]) => pattern.test(error.message))?.[1]
  if (code === undefined) return error
  return new CatracaError(code, `${directory}: ${error.message}`, { cause: error })
}

export function asStoreError<T>(directory: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw storeError(error, directory)
  }
}
