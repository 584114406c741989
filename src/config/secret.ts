import { readFileSync, statSync } from 'node:fs'
import { type Kind, WrongValue } from './value-kinds.js'

/** A secret. Read it each time it is needed and do not store it, because its file may change. */
export interface Secret<T> {
  read(): T
}

export function fixedSecret<T>(value: T): Secret<T> {
  return { read: () => value }
}

/**
 * A secret in a file that is read again whenever the file changes. An invalid or missing file at the start is an
 * error. Later the last valid value stays, because a file is often read while it is being written.
 */
export function fileSecret<T>(path: string, kind: Kind<T>, onProblem: (message: string) => void): Secret<T> {
  let seen = stamp(path)
  let value = readSecret(path, kind)
  let told = ''
  return {
    read() {
      try {
        const now = stamp(path)
        if (now !== seen) {
          value = readSecret(path, kind)
          // Set only now, so that an invalid file is read again at the next call even if its stamp is the same.
          seen = now
        }
        told = ''
      } catch (error) {
        const { message } = error as Error
        if (message !== told) onProblem(message)
        told = message
      }
      return value
    },
  }
}

/** Changes with the file, even when it is replaced by one with the same time and size. */
function stamp(path: string): string {
  try {
    const { mtimeMs, ctimeMs, size, ino } = statSync(path)
    return `${ino}:${size}:${mtimeMs}:${ctimeMs}`
  } catch (error) {
    throw unreadable(path, error)
  }
}

function readSecret<T>(path: string, kind: Kind<T>): T {
  let content: string
  try {
    content = readFileSync(path, 'utf8').trim()
  } catch (error) {
    throw unreadable(path, error)
  }
  if (content === '') throw new WrongValue(`names ${path}, which is empty`)
  try {
    return kind.fromText(content)
  } catch (error) {
    if (error instanceof WrongValue) throw new WrongValue(`names ${path}, whose content ${error.message}`)
    throw error
  }
}

function unreadable(path: string, cause: unknown): WrongValue {
  const why = (cause as NodeJS.ErrnoException).code ?? 'unreadable'
  return new WrongValue(`names ${path}, which cannot be read (${why})`, { cause })
}
