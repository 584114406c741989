import { readdirSync, readFileSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { join, sep } from 'node:path'

interface OpenProcess {
  pid: number
  /** By a signal or a debugger. If it was stopped in a write, it still holds the write lock. */
  isStopped: boolean
}

/**
 * Other processes that have files of the directory open, as far as the system reports them. It does not report
 * processes of other users and containers. `readers` adds those in LMDB's reader table.
 */
export function openProcesses(directory: string, readers: readonly number[] = []): OpenProcess[] {
  const inside = realPath(directory) + sep
  const pids = new Set([
    ...processesWithFile((path) => path.startsWith(inside)),
    ...readers.filter((pid) => pid !== process.pid && isAlive(pid)),
  ])
  return [...pids].sort((a, b) => a - b).map((pid) => ({ pid, isStopped: isStopped(pid) }))
}

/** The process ids in LMDB's reader table. Each line of the table begins with one. */
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

/** Other processes that have a file open for which `isWanted` is true. A deleted file is still listed with its path. */
export function processesWithFile(isWanted: (path: string) => boolean): number[] {
  return entries('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => entries(join('/proc', pid, 'fd')).some((fd) => isWanted(linkOf(pid, fd))))
    .map(Number)
}

/**
 * Other processes, of all users, that have a lock on the file. LMDB holds one on `lock.mdb` while an environment is
 * open. Processes of other containers are not found.
 */
export function lockHolders(path: string): number[] {
  const stats = statSync(path, { throwIfNoEntry: false, bigint: true })
  if (stats === undefined) return []
  const file = `${deviceName(stats.dev)}:${stats.ino}`
  let locks: string
  try {
    locks = readFileSync('/proc/locks', 'utf8')
  } catch {
    // Not Linux.
    return []
  }
  const pids = [...locks.matchAll(/ (\d+) ([0-9a-f]+:[0-9a-f]+:\d+) /g)]
    .filter(([, pid, locked]) => locked === file && Number(pid) !== process.pid)
    .map(([, pid]) => Number(pid))
  return [...new Set(pids)]
}

/** The device as /proc/locks writes it: major and minor number in hexadecimal. */
function deviceName(device: bigint): string {
  const major = ((device >> 8n) & 0xfffn) | ((device >> 32n) & 0xfffff000n)
  const minor = (device & 0xffn) | ((device >> 12n) & 0xffffff00n)
  return [major, minor].map((part) => part.toString(16).padStart(2, '0')).join(':')
}

function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

function entries(path: string): string[] {
  try {
    return readdirSync(path)
  } catch {
    // The process has ended, or belongs to another user.
    return []
  }
}

function linkOf(pid: string, fd: string): string {
  try {
    return readlinkSync(join('/proc', pid, 'fd', fd)).replace(/ \(deleted\)$/, '')
  } catch {
    return ''
  }
}

export function isStopped(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The state comes after the process name, which may contain any character.
    return /^[Tt]/.test(stat.slice(stat.lastIndexOf(')') + 2))
  } catch {
    return false
  }
}
