import { isPromise, type MaybePromise } from '../../../core/maybe-promise.js'
import { every } from '../../../core/timers.js'
import type { ChangeFeed, ListRef, LogEntry, LogPart, LogPosition } from './port.js'

/** An image of a list that is updated from the log. */
export interface Followed {
  readonly list: ListRef
  /** The last entry of each log that the image contains. */
  readonly position: LogPosition[]
  /** When the image was last known to be complete, in monotonic milliseconds. */
  freshAtMs: number
  /** True while entries are known or suspected that the image lacks. It must not answer then. */
  behind: boolean
  /** The generation of the image's member set, where the engine reports it. See LogPart. */
  generation?: number | undefined
  apply(entry: LogEntry): void
  /** The log no longer reaches back to the image, or the list was deleted. The image cannot be repaired. */
  lost(): void
}

interface CatchUp {
  /** Another call came in while this one was running. */
  again: boolean
  done: Promise<void> | undefined
}

interface Look {
  askedAtMs: number
  part: MaybePromise<LogPart | 'gap'>
}

/**
 * The most that is applied at once on the thread that answers checks. The rest is applied in pauses, and the image
 * counts as behind until then.
 */
const BYTES_AT_ONCE = 64 * 1024

/**
 * Updates images from the log: catches up, detects gaps by sequence number, and recovers from lost notifications
 * and engine failures. The same for every engine.
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
    // Notifications may be lost, so positions are also compared at intervals.
    this.timer = every(() => this.catchUpAll(), compareIntervalMs)
    this.timer.unref()
  }

  add(target: Followed): void {
    this.followed.add(target)
  }

  remove(target: Followed): void {
    this.followed.delete(target)
  }

  /** On the hot path: applies at once what needs no waiting. */
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

  /** Applies all new entries. Afterwards the target is fresh, lost, or marked as behind. */
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
      // If the feed is not immediate, an image may answer while the log is read, as long as the last read is recent.
      if (this.feed.isImmediate) target.behind = true
      state.done = rest.catch((error: unknown) => {
        this.catchingUp.delete(target)
        this.failed(target, error)
      })
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
    for (;;) {
      state.again = false
      const part = await look.part
      const { more } = applyAll(target, part)
      if (!more) {
        target.freshAtMs = Math.max(target.freshAtMs, look.askedAtMs - ageOf(part))
        target.generation = part === 'gap' ? undefined : part.generation
      }
      // A call in between may know of an entry that this read came too early for.
      if (!more && !state.again) break
      await new Promise((resolve) => setImmediate(resolve))
      if (this.closed) break
      look = this.look(target)
    }
    // In the same step as the decision not to read again: a call after it must not wait for this run.
    this.catchingUp.delete(target)
    target.behind = false
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

/** Applies entries that follow the target's position without a gap. */
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
