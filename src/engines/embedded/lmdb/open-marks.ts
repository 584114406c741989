import { randomBytes } from 'node:crypto'
import { readdirSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isAlive } from './open-processes.js'
import { OWNER_FILE } from './private-files.js'

/**
 * Which processes have something open: each puts an empty file into a directory, named by its number and the container in
 * which it has that number, and removes it in the end. Those that were killed leave theirs to the next one.
 */
const NAME = /^(\d+)-open-(\d+)-/
/** Of another container, where nobody can tell whether its process lives. */
const FOREIGN_KEPT_MS = 24 * 3600 * 1000

/** Call the result to take it down. */
export function markOpenedBy(directory: string): () => void {
  const name = `${process.pid}-open-${pidNamespace()}-${randomBytes(4).toString('hex')}`
  writeFileSync(join(directory, name), '', { mode: OWNER_FILE })
  return () => rmSync(join(directory, name), { force: true })
}

/** Other processes of this container with a mark there. */
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

/** Process numbers mean something within it; 0 where the system has none. */
function pidNamespace(): string {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0'
  } catch {
    return '0'
  }
}
