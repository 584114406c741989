import { isPromise, type MaybePromise } from '../maybe.js'
import type { ChangeFeed, LogEntry } from './port.js'

/** Somebody who holds an image of a list and keeps it fresh from the log. */
export interface Followed {
  readonly incarnation: number
  /** The last entry that the image holds. */
  position: number
  /** True while entries are known, or suspected, that the image does not hold: it must not answer then. */
  behind: boolean
  apply(entry: LogEntry): void
  /** The log no longer reaches back to the image, or the list is gone: it cannot be mended. */
  lost(): void
}

/** Applied in one go on the thread that answers checks; what is more is done in pauses, and the image is behind. */
const BYTES_AT_ONCE = 64 * 1024

/**
 * Keeps images fresh: catching up, noticing gaps by sequence number, and going on after a lost wake-up or a failing
 * engine, the same for every engine.
 */
export class Follower {
  private readonly followed = new Set<Followed>()
  private readonly catchingUp = new WeakMap<Followed, Promise<void>>()
  private readonly watch: { stop(): void }
  private readonly timer: NodeJS.Timeout
  private closed = false

  constructor(
    private readonly feed: ChangeFeed,
    compareIntervalMs: number,
    private readonly onFailure: (error: unknown) => void,
  ) {
    const all = () => this.catchUpAll()
    this.watch = feed.watch(all)
    // Wake-ups may be lost, so positions are compared as well.
    this.timer = setInterval(all, compareIntervalMs)
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
    if (this.feed.stirred()) this.catchUpAll()
  }

  catchUpAll(): void {
    const allowance = { bytes: BYTES_AT_ONCE }
    for (const target of this.followed) void this.catchUp(target, allowance)
  }

  /** Applies all there is; afterwards the target is fresh, or lost, or marked as behind. */
  catchUp(target: Followed, allowance = { bytes: BYTES_AT_ONCE }): MaybePromise<void> {
    const running = this.catchingUp.get(target)
    if (running !== undefined || this.closed) return running
    try {
      const rest = this.advance(target, allowance)
      if (!isPromise(rest)) {
        target.behind = false
        return
      }
      target.behind = true
      const settled = rest
        .then(
          () => {
            target.behind = false
          },
          (error: unknown) => this.failed(target, error),
        )
        .finally(() => this.catchingUp.delete(target))
      this.catchingUp.set(target, settled)
      return settled
    } catch (error) {
      this.failed(target, error)
    }
  }

  private failed(target: Followed, error: unknown): void {
    target.behind = true
    if (!this.closed) this.onFailure(error)
  }

  private advance(target: Followed, allowance: { bytes: number }): MaybePromise<void> {
    while (allowance.bytes > 0) {
      const entries = this.feed.read(target.incarnation, target.position)
      if (isPromise(entries)) return this.advanceLater(target, entries)
      const applied = applyAll(target, entries)
      if (applied === 0) return
      allowance.bytes -= applied
    }
    return this.advanceLater(target, undefined)
  }

  private async advanceLater(
    target: Followed,
    first: Promise<LogEntry[] | 'gap'> | undefined,
  ): Promise<void> {
    let applied = first === undefined ? 1 : applyAll(target, await first)
    while (applied > 0 && !this.closed) {
      await new Promise((resolve) => setImmediate(resolve))
      applied = applyAll(target, await this.feed.read(target.incarnation, target.position))
    }
  }

  close(): void {
    this.closed = true
    clearInterval(this.timer)
    this.watch.stop()
  }
}

/** Applies entries that follow the target's position without a hole; returns their bytes, 0 at the end. */
function applyAll(target: Followed, entries: LogEntry[] | 'gap'): number {
  if (entries === 'gap') {
    target.lost()
    return 0
  }
  let bytes = 0
  for (const entry of entries) {
    if (entry.sequence !== target.position + 1) {
      target.lost()
      return 0
    }
    target.apply(entry)
    target.position = entry.sequence
    bytes += entry.bytes.length
  }
  return bytes
}
