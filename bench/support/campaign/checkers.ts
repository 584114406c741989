import { CACHE_LAG_MS, type Lane, LIMITS, type Told } from './history.js'

/** A time in which the store may lose things, as the guarantees declare. */
export interface Declared {
  beganMs: number
  endedMs: number
  /** Only for these guards. Absent: for all. */
  lanes?: readonly Lane[] | undefined
}

export type Checker = (events: readonly Told[], declared: readonly Declared[]) => string[]

const touches = (declared: readonly Declared[], from: number, to: number) =>
  declared.some(({ beganMs, endedMs }) => beganMs <= to && endedMs >= from)

function byKey(events: readonly Told[]): Map<string, Told[]> {
  const groups = new Map<string, Told[]>()
  for (const event of events) {
    const group = groups.get(event.key)
    if (group === undefined) groups.set(event.key, [event])
    else group.push(event)
  }
  return groups
}

/** With the token of a write, no check may miss it, unless the store lost the write or the answer says degraded. */
const allowlists: Checker = (events, declared) =>
  events
    .filter(({ verified, degraded }) => verified === true && degraded === false)
    .filter(({ expected, allowed }) => expected !== allowed)
    .filter(({ beganMs, endedMs }) => !touches(declared, beganMs, endedMs))
    .map(
      ({ key, pod, expected }) => `pod ${pod}: ${key} should be ${expected ? 'a member' : 'none'}, by token`,
    )

/** Limits count in whole milliseconds. */
const CLOCK_STEP_MS = 2

/** In any period the store admits at most the capacity. Calls that overlap its edges are not counted. */
function beyondRule(events: readonly Told[], capacity: number, declared: readonly Declared[]): string[] {
  const admitted = events.filter(({ allowed }) => allowed === true).sort((a, b) => a.beganMs - b.beganMs)
  for (let i = 0; i < admitted.length; i++) {
    const from = admitted[i]!.beganMs
    const untilMs = from + LIMITS.periodMs - CLOCK_STEP_MS
    let within = 0
    for (let j = i; j < admitted.length && admitted[j]!.beganMs < untilMs; j++)
      if (admitted[j]!.endedMs < untilMs) within++
    if (within <= capacity) continue
    if (touches(declared, from - LIMITS.periodMs, from + LIMITS.periodMs)) continue
    return [`${within} of ${capacity} admitted within ${LIMITS.periodMs} ms`]
  }
  return []
}

const limits: Checker = (events, declared) =>
  beyondRule(
    events.filter(({ degraded }) => degraded === false),
    LIMITS.capacity,
    declared,
  )

/** Each process admits at most its share while the store is away. What the store loses, and clocks, do not touch it. */
const local: Checker = (events) => {
  // A pod that was started again knows nothing of the share that it used before.
  const pods = byKey(events.filter(({ degraded }) => degraded === true))
  const share = Math.floor(LIMITS.capacity * LIMITS.localShare)
  return [...pods].flatMap(([process, told]) =>
    beyondRule(told, share, []).map((fault) => `pod ${process}: ${fault}`),
  )
}

/** At most one caller is told to go on with a key, since its lease outlives the campaign. */
const idempotency: Checker = (events, declared) => {
  const granted = byKey(events.filter(({ claimed }) => claimed === true))
  return [...granted].flatMap(([key, claims]) => {
    if (claims.length < 2) return []
    const from = Math.min(...claims.map(({ beganMs }) => beganMs))
    const to = Math.max(...claims.map(({ endedMs }) => endedMs))
    return touches(declared, from, to) ? [] : [`${key} was claimed ${claims.length} times`]
  })
}

/** Fences grow from holder to holder, whatever happens; holders overlap only where it is declared. */
const locks: Checker = (events, declared) => {
  const faults: string[] = []
  const held = events.filter(({ fence }) => fence !== undefined).sort((a, b) => a.endedMs - b.endedMs)
  for (let i = 1; i < held.length; i++) {
    const [before, after] = [held[i - 1]!, held[i]!]
    if (after.beganMs > before.endedMs && after.fence! <= before.fence!)
      faults.push(`fence ${after.fence} came after ${before.fence}`)
    const until = Number(before.heldUntilMs)
    if (after.endedMs < until && !touches(declared, before.beganMs, after.endedMs))
      faults.push(
        `pods ${before.pod} and ${after.pod} held the lock for ${until - after.endedMs} ms together`,
      )
  }
  return faults
}

/** A code works once. */
const codes: Checker = (events) =>
  events
    .filter(({ valid }) => Number(valid) > 1)
    .map(({ key, valid }) => `a code for ${key} worked ${valid} times`)

/** What was invalidated does not come back once the lag of the first tiers is over. A pod that stood still knows nothing. */
const cache: Checker = (events, declared) => {
  const faults: string[] = []
  const pauses = events.filter(({ paused }) => paused === true)
  for (const [key, ofKey] of byKey(events)) {
    const bumps = ofKey.filter(({ bumped }) => bumped === true)
    for (const read of ofKey.filter(({ version, fresh }) => version !== undefined && fresh === true)) {
      const due = bumps.filter(({ to, endedMs }) => {
        if (Number(to) <= Number(read.version)) return false
        const lagMs = read.beganMs - endedMs
        if (lagMs <= CACHE_LAG_MS) return false
        return lagMs > CACHE_LAG_MS + pausedMs(pauses, read.pod, endedMs, read.beganMs)
      })
      const least = Math.max(0, ...due.map((bump) => Number(bump.to)))
      const isExcused = touches(declared, read.beganMs - 2 * CACHE_LAG_MS, read.endedMs)
      if (Number(read.version) < least && !isExcused)
        faults.push(
          `pod ${read.pod} read version ${read.version} of ${key} at ${Math.round(read.beganMs)}, ${lateMs(due, least, read)} ms after ${least} had replaced it`,
        )
    }
  }
  return faults
}

/** How long the pod stood still in a span of time. */
function pausedMs(pauses: readonly Told[], pod: number, fromMs: number, untilMs: number): number {
  let sumMs = 0
  for (const { pod: paused, beganMs, endedMs } of pauses) {
    if (paused === pod) sumMs += Math.max(0, Math.min(endedMs, untilMs) - Math.max(beganMs, fromMs))
  }
  return sumMs
}

const lateMs = (bumps: readonly Told[], version: number, read: Told): number =>
  Math.round(read.beganMs - bumps.find(({ to }) => to === version)!.endedMs)

/** Every acknowledged change is in the trail. `listed`: how many changes of the customer the trail holds in the end. */
const audit: Checker = (events, declared) => {
  const since = Math.max(0, ...declared.map(({ endedMs }) => endedMs))
  return [...byKey(events)].flatMap(([customer, told]) => {
    const listed = Number(told.find(({ listed }) => listed !== undefined)?.listed ?? 0)
    const made = told.filter(({ acknowledged, beganMs }) => acknowledged === true && beganMs > since).length
    return listed < made
      ? [`${made} changes of ${customer} were acknowledged, ${listed} are in the trail`]
      : []
  })
}

/** What was declared for a guard. */
export const declaredFor = (lane: Lane, declared: readonly Declared[]): Declared[] =>
  declared.filter(({ lanes }) => lanes === undefined || lanes.includes(lane))

export const CHECKERS: Record<Told['lane'], Checker> = {
  ...{ allowlists, limits, local, idempotency, locks, codes, cache, audit },
}
