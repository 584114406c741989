import { readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs'
import { join, sep } from 'node:path'

export interface OpenProcess {
  pid: number
  /** By a signal or a debugger: it keeps the lock of a write that it was in. */
  isStopped: boolean
}

/**
 * Other processes that have files of the directory open, as far as the system tells: those of other users and of other
 * containers it does not, and `readers`, which LMDB keeps in the directory itself, names those that read.
 */
export function openProcesses(directory: string, readers: readonly number[] = []): OpenProcess[] {
  const pids = new Set([...holdersOf(directory), ...readers.filter(isAlive)])
  pids.delete(process.pid)
  return [...pids].sort((a, b) => a - b).map((pid) => ({ pid, isStopped: isStopped(pid) }))
}

/** The processes in LMDB's table of readers; it prints one a line, the process first. */
export function readersOf(list: string): number[] {
  return [...list.matchAll(/^\s*(\d+)\s+[0-9a-f]+\s/gm)].map((match) => Number(match[1]))
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function holdersOf(directory: string): number[] {
  let inside: string
  try {
    inside = realpathSync(directory) + sep
  } catch {
    return []
  }
  return entries('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => entries(join('/proc', pid, 'fd')).some((fd) => linkOf(pid, fd).startsWith(inside)))
    .map(Number)
}

function entries(path: string): string[] {
  try {
    return readdirSync(path)
  } catch {
    // Gone meanwhile, or another user's.
    return []
  }
}

function linkOf(pid: string, fd: string): string {
  try {
    return readlinkSync(join('/proc', pid, 'fd', fd))
  } catch {
    return ''
  }
}

function isStopped(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // Behind the name, which may hold anything.
    return /^[Tt]/.test(stat.slice(stat.lastIndexOf(')') + 2))
  } catch {
    return false
  }
}
