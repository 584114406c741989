import { type Clock, isoTime, systemClock } from '../core/clock.js'
import { every } from '../core/timers.js'
import type { CheckFigures, CheckSums } from '../guards/allowlist/check-figures.js'

export const TRAFFIC_STEP_MS = 10_000
const KEPT = 360

export interface TrafficAnswer {
  stepSeconds: number
  /** Start of the first step. */
  from: string
  /** Checks in each step, oldest first. */
  allowed: number[]
  denied: number[]
}

/** What one list answered in each step: 3 KB. */
class Ring {
  readonly allowed = new Uint32Array(KEPT)
  readonly denied = new Uint32Array(KEPT)
  private before: Readonly<CheckSums> = { allowed: 0, denied: 0 }

  /** `first`: the number of the step in which counting began. */
  constructor(readonly first: number) {}

  /** Spreads what was counted since the last call evenly over the steps that end with `last`. */
  put(sums: Readonly<CheckSums>, last: number, steps: number): void {
    spread(this.allowed, sums.allowed - this.before.allowed, last, steps)
    spread(this.denied, sums.denied - this.before.denied, last, steps)
    this.before = { ...sums }
  }
}

function spread(ring: Uint32Array, count: number, last: number, steps: number): void {
  const least = Math.floor(count / steps)
  for (let i = 0; i < steps; i++) ring[(last - i) % KEPT] = least + (i < count % steps ? 1 : 0)
}

/**
 * Checks of single lists in the last hour of a process, read from the counters that exist anyway. There are rings only
 * for lists that `CheckFigures` counts by themselves: as many as `metrics.maxSeries`, and those that somebody looks at.
 */
export class ListTraffic {
  private readonly rings = new Map<string, Ring>()
  private readonly timer: NodeJS.Timeout
  private taken = 0
  private lastAt: number

  constructor(
    private readonly figures: CheckFigures,
    private readonly clock: Clock = systemClock,
  ) {
    this.lastAt = clock.now()
    this.timer = every(() => this.sample(), TRAFFIC_STEP_MS)
    this.timer.unref()
  }

  /** Adds the steps since the last sample: more than one if the process stood still. */
  sample(): void {
    const now = this.clock.now()
    const steps = Math.min(KEPT, Math.max(1, Math.round((now - this.lastAt) / TRAFFIC_STEP_MS)))
    this.lastAt = now
    const last = this.taken + steps - 1
    const unseen = new Set(this.rings.keys())
    for (const all of [this.figures.sums(), this.figures.watchedSums()]) {
      for (const [id, sums] of all) {
        unseen.delete(id)
        this.ringOf(id).put(sums, last, steps)
      }
    }
    for (const id of unseen) this.rings.delete(id)
    this.taken = last + 1
  }

  read(id: string, minutes: number): TrafficAnswer {
    if (this.figures.watch(id)) this.rings.set(id, new Ring(this.taken))
    const ring = this.rings.get(id) ?? new Ring(0)
    const count = Math.min(this.taken - ring.first, KEPT, Math.ceil((minutes * 60_000) / TRAFFIC_STEP_MS))
    const tail = (values: Uint32Array): number[] =>
      Array.from({ length: count }, (_, i) => values[(this.taken - count + i) % KEPT]!)
    return {
      stepSeconds: TRAFFIC_STEP_MS / 1000,
      from: isoTime(this.lastAt - count * TRAFFIC_STEP_MS),
      allowed: tail(ring.allowed),
      denied: tail(ring.denied),
    }
  }

  stop(): void {
    clearInterval(this.timer)
  }

  /** A list with counters of its own had no checks before they began. */
  private ringOf(id: string): Ring {
    let ring = this.rings.get(id)
    if (ring === undefined) this.rings.set(id, (ring = new Ring(0)))
    return ring
  }
}
