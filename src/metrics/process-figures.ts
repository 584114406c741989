import { readdirSync, readFileSync } from 'node:fs'
import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8'

export interface ProcessFigures {
  cpuUserSeconds: number
  cpuSystemSeconds: number
  cpuSeconds: number
  startSeconds: number
  heapTotalBytes: number
  heapUsedBytes: number
  externalBytes: number
  /**
   * Undefined where the system does not report it: a process without free file descriptors cannot even read its
   * memory.
   */
  residentBytes: number | undefined
  openFiles: number | undefined
  maxFiles: number | undefined
}

/** A scrape reads each figure separately, within one turn of the event loop. */
const KEPT_MS = 100
let takenAtMs = Number.NEGATIVE_INFINITY
let taken: ProcessFigures

/**
 * Figures of this process. Garbage collections are not included: V8 reports them only to an observer, which slowed a
 * loop that allocates from 130 to 137 µs a turn (`docs/adr/0023-metrics.md`; not measured in a server).
 */
export function processFigures(): ProcessFigures {
  const nowMs = performance.now()
  if (nowMs - takenAtMs < KEPT_MS) return taken
  const { user, system } = process.cpuUsage()
  const heap = getHeapStatistics()
  taken = {
    cpuUserSeconds: user / 1e6,
    cpuSystemSeconds: system / 1e6,
    cpuSeconds: (user + system) / 1e6,
    startSeconds: Math.round(performance.timeOrigin) / 1000,
    residentBytes: residentBytes(),
    heapTotalBytes: heap.total_heap_size,
    heapUsedBytes: heap.used_heap_size,
    externalBytes: heap.external_memory,
    openFiles: tried(() => readdirSync('/proc/self/fd').length),
    maxFiles: tried(() => {
      const soft = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
      return soft === undefined ? undefined : Number(soft)
    }),
  }
  takenAtMs = nowMs
  return taken
}

export function residentBytes(): number | undefined {
  return tried(() => process.memoryUsage.rss())
}

/** Used bytes by the short name of the heap space. */
export function heapSpaces(): Record<string, number> {
  return Object.fromEntries(
    getHeapSpaceStatistics().map(({ space_name, space_used_size }) => [
      space_name.replace(/_space$/, ''),
      space_used_size,
    ]),
  )
}

function tried<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
