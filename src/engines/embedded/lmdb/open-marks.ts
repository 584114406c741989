import { randomBytes } from 'node:crypto'
import { readdirSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isAlive } from './open-processes.js'
import { OWNER_FILE } from './private-files.js'

/**
 * Marks of the processes that have something open. Each process puts an empty file into a directory, named by its
 * process id and pid namespace, and removes it when it closes. The next process removes the files of killed ones.
 */
const NAME = /^(\d+)-open-(\d+)-/
/** How long to keep a mark from another container, where it is unknown whether its process is alive. */
const FOREIGN_KEPT_MS = 24 * 3600 * 1000

/** Call the returned function to remove the mark. */
export function markOpenedBy(directory: string): () => void {
  const name = `${process.pid}-open-${pidNamespace()}-${randomBytes(4).toString('hex')}`
  writeFileSync(join(directory, name), '', { mode: OWNER_FILE })
  return () => rmSync(join(directory, name), { force: true })
}

/** Other processes of this container that have a mark in the directory. */
export function processesAt(directory: string): number[] {
  const here = pidNamespace()
  const pids = new Set<number>()
  for (const name of readdirSync(directory)) {
    const [, pid, namespace] = NAME.exec(name) ?? []
    if (pid === undefined) continue
    const isHere = namespace === here
    if (isHere ? !isAlive(Number(pid)) : isOld(join(directory, name)))
      rmSync(join(directory, name), { force: true })
    else if (isHere && Number(pid) !== process.pid) pids.add(Number(pid))
  }
  return [...pids]
}

function isOld(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats !== undefined && Date.now() - stats.mtimeMs > FOREIGN_KEPT_MS
}

/** The namespace in which process ids are unique; 0 on systems without namespaces. */
function pidNamespace(): string {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0'
  } catch {
    return '0'
  }
}
