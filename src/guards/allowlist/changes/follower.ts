import { isPromise, type MaybePromise } from '../../../core/maybe-promise.js'
import { every } from '../../../core/timers.js'
import type { ChangeFeed, ListRef, LogEntry, LogPart, LogPosition } from './port.js'

/** Somebody who holds an image of a list and keeps it fresh from the log. */
export interface Followed {
  readonly list: ListRef
  /** The last entry of each log that the image holds. */
  readonly position: LogPosition[]
  /** When the image was last known to hold everything, in milliseconds that only grow. */
  freshAtMs: number
  /** True while entries are known, or suspected, that the image does not hold: it must not answer then. */
  behind: boolean
  /** Which members the image is of, where the engine tells; see LogPart. */
  generation?: number | undefined
  apply(entry: LogEntry): void
  /** The log no longer reaches back to the image, or the list is gone: it cannot be mended. */
  lost(): void
}

interface CatchUp {
  /** Somebody asked again while it ran. */
  again: boolean
  done: Promise<void> | undefined
}

interface Look {
  askedAtMs: number
  part: MaybePromise<LogPart | 'gap'>
}

/** Applied in one go on the thread that answers checks; what is more is done in pauses, and the image is behind. */
const BYTES_AT_ONCE = 64 * 1024

/**
 * Keeps images fresh: catching up, noticing gaps by sequence number, and going on after a lost wake-up or a failing
 * engine, the same for every engine.
 */
export class Follower {
  private readonly followed = new Set<Followed>()
  private readonly catchingUp = new WeakMap<Followed, CatchUp>()
  private readonly watch: { stop(): void }
  private readonly timer: NodeJS.Timeout
  private closed = false

  constructor(
    private readonly feed: ChangeFeed,
    compareIntervalMs: number,
    private readonly onFailure: (error: unknown) => void,
  ) {
    this.watch = feed.watch((listId) => this.wake(listId))
    // Wake-ups may be lost, so positions are compared as well.
    this.timer = every(() => this.catchUpAll(), compareIntervalMs)
    this.timer.unref()
  }

  add(target: Followed): void {
    this.followed.add(target)
  }

  remove(target: Followed): void {
    this.followed.delete(target)
  }

  /** On the hot path: applies at once what can be applied without waiting. */
  sync(): void {
    if (this.feed.hasChanges()) this.catchUpAll()
  }

  private wake(listId: string | undefined): void {
    for (const target of this.followed) {
      if (listId === undefined || target.list.id === listId) void this.catchUp(target)
    }
  }

  catchUpAll(): void {
    const allowance = { bytes: BYTES_AT_ONCE }
    for (const target of this.followed) void this.catchUp(target, allowance)
  }

  /** Applies all there is; afterwards the target is fresh, or lost, or marked as behind. */
  catchUp(target: Followed, allowance = { bytes: BYTES_AT_ONCE }): MaybePromise<void> {
    const running = this.catchingUp.get(target)
    if (running !== undefined) running.again = true
    if (running !== undefined || this.closed) return running?.done
    const state: CatchUp = { again: false, done: undefined }
    try {
      const rest = this.advance(target, allowance, state)
      if (!isPromise(rest)) {
        target.behind = false
        return
      }
      // Elsewhere an image may answer while the log is looked at, as long as the last look is not long ago.
      if (this.feed.isImmediate) target.behind = true
      state.done = rest
        .then(
          () => {
            target.behind = false
          },
          (error: unknown) => this.failed(target, error),
        )
        .finally(() => this.catchingUp.delete(target))
      this.catchingUp.set(target, state)
      return state.done
    } catch (error) {
      this.failed(target, error)
    }
  }

  private failed(target: Followed, error: unknown): void {
    if (this.feed.isImmediate) target.behind = true
    if (!this.closed) this.onFailure(error)
  }

  private advance(target: Followed, allowance: { bytes: number }, state: CatchUp): MaybePromise<void> {
    while (allowance.bytes > 0) {
      const look = this.look(target)
      if (isPromise(look.part)) return this.advanceLater(target, look, state)
      const { bytes, more } = applyAll(target, look.part)
      if (!more) return
      allowance.bytes -= bytes
    }
    return this.advanceLater(target, undefined, state)
  }

  private async advanceLater(target: Followed, first: Look | undefined, state: CatchUp): Promise<void> {
    let look = first ?? this.look(target)
    while (!this.closed) {
      state.again = false
      const part = await look.part
      const { more } = applyAll(target, part)
      if (!more) {
        target.freshAtMs = Math.max(target.freshAtMs, look.askedAtMs - ageOf(part))
        target.generation = part === 'gap' ? undefined : part.generation
      }
      // Whoever called meanwhile may know of an entry that this look came too early for.
      if (!more && !state.again) return
      await new Promise((resolve) => setImmediate(resolve))
      look = this.look(target)
    }
  }

  private look(target: Followed): Look {
    return { askedAtMs: performance.now(), part: this.feed.read(target.list, target.position) }
  }

  close(): void {
    this.closed = true
    clearInterval(this.timer)
    this.watch.stop()
  }
}

function ageOf(part: LogPart | 'gap'): number {
  return part === 'gap' ? 0 : (part.ageMs ?? 0)
}

/** Applies entries that follow the target's position without a hole. */
function applyAll(target: Followed, part: LogPart | 'gap'): { bytes: number; more: boolean } {
  let bytes = 0
  if (part === 'gap' || !part.entries.every((entry) => follows(target, entry))) {
    target.lost()
    return { bytes, more: false }
  }
  for (const entry of part.entries) bytes += entry.bytes.length
  return { bytes, more: part.more }
}

function follows(target: Followed, entry: LogEntry): boolean {
  const { log, sequence, mark } = entry
  if (sequence !== (target.position[log]?.sequence ?? Number.NaN) + 1) return false
  target.apply(entry)
  target.position[log] = { sequence, mark }
  return true
}
