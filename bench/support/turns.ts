import { readFileSync } from 'node:fs'
import { median } from './report.js'

export type Call = (i: number) => Promise<unknown>

export interface Turn {
  /** Calls per second. */
  rate: number
  /** Processor time of one call in µs: of this process with all its threads, and of the server. */
  cpuUs: number
}

/** What each contender did, round by round. */
export type Rounds = Record<string, Turn[]>

const SLICES = 10

/** One round of contenders that take turns in short slices, so that a disturbance meets all of them. */
export async function takeTurns(
  contenders: Record<string, Call>,
  { inFlight, seconds, serverPid }: { inFlight: number; seconds: number; serverPid?: number },
  rounds: Rounds,
): Promise<void> {
  const totals = Object.entries(contenders).map(([name, call]) => ({ name, call, done: 0, ms: 0, cpuUs: 0 }))
  // The first ones are for the compiler.
  for (let slice = -3; slice < SLICES; slice++) {
    for (const total of totals) {
      const serverUs = serverCpuUs(serverPid)
      const before = process.cpuUsage()
      const { done, ms } = await load(total.call, inFlight, (seconds * 1000) / SLICES)
      const { user, system } = process.cpuUsage(before)
      if (slice < 0) continue
      total.done += done
      total.ms += ms
      total.cpuUs += user + system + serverCpuUs(serverPid) - serverUs
    }
  }
  for (const { name, done, ms, cpuUs } of totals) {
    ;(rounds[name] ??= []).push({ rate: (1000 * done) / ms, cpuUs: cpuUs / done })
  }
}

/** Every key once, so that what is read but once is not measured. */
export async function visitAll(call: Call, keys: number): Promise<void> {
  for (let from = 0; from < keys; from += 64) {
    const asked = Math.min(64, keys - from)
    await Promise.all(Array.from({ length: asked }, (_, i) => call(from + i)))
  }
}

/** So many at a time, each over a key that is as good as random. */
export async function load(call: Call, inFlight: number, ms: number): Promise<{ done: number; ms: number }> {
  let done = 0
  const start = performance.now()
  const loop = async (first: number) => {
    let i = first
    while (performance.now() - start < ms) {
      for (let j = 0; j < 8; j++) await call((i = (Math.imul(i, 1_103_515_245) + 12_345) & 0x7fffffff))
      done += 8
    }
  }
  await Promise.all(Array.from({ length: inFlight }, (_, i) => loop(i + 1)))
  return { done, ms: performance.now() - start }
}

/** What the server's main thread has used, in µs; 0 where the system does not tell. */
export function serverCpuUs(pid: number | undefined): number {
  if (pid === undefined) return 0
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1000
  } catch {
    return 0
  }
}

/** Medians of the rounds. */
export function figuresOf(rounds: Rounds): Record<string, number> {
  return Object.fromEntries(
    Object.entries(rounds).flatMap(([name, turns]) => [
      [`${name}/s`, median(turns.map(({ rate }) => rate))],
      [`${name}, µs of processor`, median(turns.map(({ cpuUs }) => cpuUs))],
    ]),
  )
}

/** How many times as fast one is as the other, round by round: by the clock, and by processor time. */
export function ratiosOf(rounds: Rounds, title: string, one: string, other: string): Record<string, number> {
  const ratio = (of: (mine: Turn, others: Turn) => number) =>
    median(rounds[one]!.map((turn, i) => of(turn, rounds[other]![i]!)))
  return {
    [title]: ratio((mine, others) => mine.rate / others.rate),
    [`${title}, by processor time`]: ratio((mine, others) => others.cpuUs / mine.cpuUs),
  }
}
