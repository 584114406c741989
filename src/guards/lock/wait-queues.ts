import { later } from '../../core/timers.js'
import type { Timing } from '../../core/timing.js'

interface Waiter {
  /** Set while waiting. A notification during a call to the store is remembered in `isTold`. */
  wake: (() => void) | undefined
  isTold: boolean
}

interface WaitQueue {
  readonly waiters: Waiter[]
  stopWatching: (() => void) | undefined
  /** This process held the lock last, so it gives other processes a chance first. */
  yields: boolean
}

/** Maximum delay before a process that released a lock tries to take it again. */
const YIELD_MS = 5

/**
 * A queue per name of the waiting callers in this process. Only the first one calls the store. So callers are
 * served in order, and many waiters cost no more than one.
 */
export class WaitQueues {
  private readonly lines = new Map<string, WaitQueue>()

  constructor(
    private readonly watch: (name: string, onFree: () => void) => () => void,
    private readonly timing: Timing,
    private readonly random: () => number,
  ) {}

  enter(name: string): Turn {
    const waiter: Waiter = { wake: undefined, isTold: false }
    let line = this.lines.get(name)
    if (line === undefined) {
      line = { waiters: [], stopWatching: undefined, yields: false }
      this.lines.set(name, line)
    }
    line.waiters.push(waiter)
    const watch = () => this.watch(name, () => this.free(name))
    return new Turn(this.timing, waiter, line, watch, () => this.leave(name, line, waiter))
  }

  /** This process released the lock. */
  released(name: string): void {
    const line = this.lines.get(name)
    if (line === undefined) return
    line.yields = true
    this.free(name)
  }

  /** Notifies all waiters, which then find that the instance is closed. */
  close(): void {
    for (const line of this.lines.values()) for (const waiter of [...line.waiters]) tell(waiter)
  }

  private free(name: string): void {
    const line = this.lines.get(name)
    const first = line?.waiters[0]
    if (line === undefined || first === undefined) return
    // Always in real time: it is other processes that get a chance.
    if (line.yields) later(() => tell(first), this.random() * YIELD_MS)
    else tell(first)
  }

  private leave(name: string, line: WaitQueue, waiter: Waiter): void {
    const wasFirst = line.waiters[0] === waiter
    line.waiters.splice(line.waiters.indexOf(waiter), 1)
    if (line.waiters.length > 0) {
      if (wasFirst) tell(line.waiters[0]!)
      return
    }
    this.lines.delete(name)
    line.stopWatching?.()
  }
}

function tell(waiter: Waiter): void {
  if (waiter.wake === undefined) waiter.isTold = true
  else waiter.wake()
}

/** A place in the queue. */
export class Turn {
  constructor(
    private readonly timing: Timing,
    private readonly waiter: Waiter,
    private readonly line: WaitQueue,
    private readonly watch: () => () => void,
    readonly leave: () => void,
  ) {}

  get isFirst(): boolean {
    return this.line.waiters[0] === this.waiter
  }

  /**
   * False if a watch already exists. Called only after a failed attempt: a watch has a
   * cost, and most callers need none.
   */
  beginWatching(): boolean {
    if (this.line.stopWatching !== undefined) return false
    this.line.stopWatching = this.watch()
    return true
  }

  /** A call to the store begins: earlier notifications are obsolete, and other processes had their chance. */
  asks(): void {
    this.waiter.isTold = false
    this.line.yields = false
  }

  /** Waits until notified, at most `ms`. Rejects when the signal is aborted. */
  wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.waiter.isTold) {
        this.waiter.isTold = false
        resolve()
        return
      }
      const end = (settle: () => void) => {
        callOff()
        this.waiter.wake = undefined
        signal?.removeEventListener('abort', abort)
        settle()
      }
      const abort = () => end(() => reject(signal!.reason))
      const callOff = this.timing.after(ms, () => end(resolve))
      this.waiter.wake = () => end(resolve)
      if (signal?.aborted) abort()
      else signal?.addEventListener('abort', abort, { once: true })
    })
  }
}
