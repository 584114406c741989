import { CatracaError } from '../core/errors.js'

/** Messages never contain the URL, which may have a password. */
export function wrong(message: string): CatracaError {
  return new CatracaError('CONFIG_INVALID', `the store URL ${message}`)
}

export function refuseUnknown(query: URLSearchParams, known: string[]): void {
  for (const name of query.keys()) {
    if (!known.includes(name)) throw wrong(`has an unknown parameter "${name}"`)
    if (query.getAll(name).length > 1) throw wrong(`has the parameter "${name}" twice`)
  }
}

export function splitOnce(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator)
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + separator.length)]
}
