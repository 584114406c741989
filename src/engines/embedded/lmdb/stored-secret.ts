import { randomBytes } from 'node:crypto'
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CatracaError } from '../../../core/errors.js'
import { asStoreError } from './failures.js'

const SECRET_BYTES = 32

/** A secret in a file of the data directory that only the owner can read. The first call creates it. */
export function storedSecret(directory: string, name: string): string {
  const path = join(directory, name)
  return asStoreError(directory, () => readSecret(path) ?? makeSecret(path))
}

function readSecret(path: string): string | undefined {
  try {
    return whole(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/**
 * Written completely and then linked to its name: only one process creates the secret, and no process reads half of
 * it.
 */
function makeSecret(path: string): string {
  const made = `${path}.${process.pid}.${randomBytes(6).toString('hex')}`
  try {
    writeFileSync(made, `${randomBytes(SECRET_BYTES).toString('base64url')}\n`, {
      mode: 0o600,
      flag: 'wx',
      flush: true,
    })
    try {
      linkSync(made, path)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  } finally {
    rmSync(made, { force: true })
  }
  return whole(path)
}

/** An empty file, left by a full disk or a broken copy, would be a secret that anybody can guess. */
function whole(path: string): string {
  const secret = readFileSync(path, 'utf8').trim()
  if (secret !== '') return secret
  throw new CatracaError('STORE_CORRUPT', `${path} is empty; remove it, and another secret is made`)
}

/** The names in a data directory that are complete secret files. */
export function secretFiles(names: readonly string[]): string[] {
  return names.filter((name) => /^[a-z]+(-[a-z]+)*$/.test(name) && !ENVIRONMENTS.has(name)).sort()
}

const ENVIRONMENTS = new Set(['limits', 'cache'])
