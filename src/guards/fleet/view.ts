import { plainName } from '../../core/identifiers.js'
import { type FleetRecord, MAX_RECORD_BYTES } from './port.js'
import type { FleetProcess, FleetSums, FleetView } from './types.js'

export const MAX_NAME = 128
const MAX_NOT_FOLLOWED = 100
/** Another version may give its records more room, but not without end. */
const MAX_LENGTH = 16 * MAX_RECORD_BYTES

/** The processes in order of their names, and what follows from all of them together. */
export function viewOf(
  records: readonly FleetRecord[],
): Pick<FleetView, 'processes' | 'sums' | 'versions' | 'notFollowed'> {
  const processes = records.flatMap((record) => readProcess(record) ?? [])
  processes.sort((a, b) => compare(a.name, b.name) || a.pid - b.pid || compare(a.id, b.id))
  return {
    processes,
    sums: sumsOf(processes),
    versions: versionsOf(processes),
    notFollowed: notFollowedOf(processes),
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Another version may have written it: what is missing or of another type gets a value that shows nothing. */
function readProcess({ id, text, ageMs }: FleetRecord): FleetProcess | undefined {
  if (text.length > MAX_LENGTH) return undefined
  let facts: Record<string, unknown>
  try {
    facts = Object(JSON.parse(text)) as Record<string, unknown>
  } catch {
    return undefined
  }
  const minute = Object(facts.lastMinute) as Record<string, unknown>
  const { checksPerSecond, followed } = facts
  return {
    id,
    name: textOf(facts.name),
    pid: numberOf(facts.pid),
    version: textOf(facts.version),
    engine: textOf(facts.engine),
    startedAt: Number.isNaN(Date.parse(textOf(facts.startedAt))) ? '' : textOf(facts.startedAt),
    lists: numberOf(facts.lists),
    staleLists: numberOf(facts.staleLists),
    feedLagMs: numberOf(facts.feedLagMs),
    ...(typeof checksPerSecond === 'number' && { checksPerSecond: numberOf(checksPerSecond) }),
    lastMinute: {
      checks: numberOf(minute.checks),
      errors: numberOf(minute.errors),
      degraded: numberOf(minute.degraded),
    },
    followed: Array.isArray(followed) ? followed.filter(isListId) : [],
    seenMsAgo: Math.max(0, Math.round(ageMs)),
  }
}

/** Whoever can write into the store can write a record: nothing in it may control a terminal or fill a page. */
const textOf = (value: unknown): string =>
  typeof value === 'string' ? value.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '').slice(0, MAX_NAME) : ''

/** All of them count something. */
const numberOf = (value: unknown): number =>
  Number.isFinite(value) ? Math.min(Math.max(0, value as number), Number.MAX_SAFE_INTEGER) : 0

function isListId(value: unknown): value is string {
  try {
    return plainName('allowlistId', value) === value
  } catch {
    return false
  }
}

function sumsOf(processes: readonly FleetProcess[]): FleetSums {
  const sum = (of: (one: FleetProcess) => number) => processes.reduce((all, one) => all + of(one), 0)
  return {
    processes: processes.length,
    checksPerSecond: sum(({ checksPerSecond = 0 }) => checksPerSecond),
    errorsLastMinute: sum(({ lastMinute }) => lastMinute.errors),
    degradedLastMinute: sum(({ lastMinute }) => lastMinute.degraded),
    staleLists: sum(({ staleLists }) => staleLists),
    feedLagMs: Math.max(0, ...processes.map(({ feedLagMs }) => feedLagMs)),
  }
}

function versionsOf(processes: readonly FleetProcess[]): FleetView['versions'] {
  const counts = new Map<string, number>()
  for (const { version } of processes) counts.set(version, (counts.get(version) ?? 0) + 1)
  return [...counts]
    .map(([version, count]) => ({ version, processes: count }))
    .sort((a, b) => b.processes - a.processes || compare(a.version, b.version))
}

/** A process whose record had no room for all ids may follow any list. */
function notFollowedOf(processes: readonly FleetProcess[]): FleetView['notFollowed'] {
  const ids = new Set(processes.flatMap(({ followed }) => followed))
  const whole = processes.filter(({ followed, lists }) => followed.length >= lists)
  const sets = whole.map(({ id, followed }) => ({ id, followed: new Set(followed) }))
  const missing: FleetView['notFollowed'] = []
  for (const allowlistId of [...ids].sort()) {
    const without = sets.filter(({ followed }) => !followed.has(allowlistId)).map(({ id }) => id)
    if (without.length > 0) missing.push({ allowlistId, processes: without })
    if (missing.length === MAX_NOT_FOLLOWED) break
  }
  return missing
}
