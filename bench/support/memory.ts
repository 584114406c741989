import { readFileSync } from 'node:fs'

/** Anonymous memory of a process: what it takes of its own, without mapped files. Undefined once it is gone. */
export function anonymousBytes(pid: number | 'self'): number | undefined {
  try {
    const found = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))
    return found === null ? undefined : Number(found[1]) * 1024
  } catch {
    return undefined
  }
}
