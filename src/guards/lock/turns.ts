import type { Timing } from './timing.js'

interface Waiter {
  /** Of one who waits; those who ask at this moment are told afterwards. */
  wake: (() => void) | undefined
  isTold: boolean
}

interface Line {
  readonly waiters: Waiter[]
  stopWatching: (() => void) | undefined
  /** This process had the lock last: another one may now be faster. */
  yields: boolean
}

/** A process that gives a lock back leaves others up to so long to take it. */
const YIELD_MS = 5

/**
 * Those of this process that wait for a name stand in line, and only the first of them asks the store: so they come in
 * their order, and many who wait cost no more than one.
 */
export class Turns {
  private readonly lines = new Map<string, Line>()

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

  /** This process gave the lock back. */
  released(name: string): void {
    const line = this.lines.get(name)
    if (line === undefined) return
    line.yields = true
    this.free(name)
  }

  /** Whoever waits looks at once, and finds that there is nothing to wait for. */
  close(): void {
    for (const line of this.lines.values()) for (const waiter of [...line.waiters]) tell(waiter)
  }

  private free(name: string): void {
    const line = this.lines.get(name)
    const first = line?.waiters[0]
    if (line === undefined || first === undefined) return
    if (line.yields) this.timing.after(this.random() * YIELD_MS, () => tell(first))
    else tell(first)
  }

  private leave(name: string, line: Line, waiter: Waiter): void {
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

/** The place of one who waits. */
export class Turn {
  constructor(
    private readonly timing: Timing,
    private readonly waiter: Waiter,
    private readonly line: Line,
    private readonly watch: () => () => void,
    readonly leave: () => void,
  ) {}

  get isFirst(): boolean {
    return this.line.waiters[0] === this.waiter
  }

  /** False when somebody of the line did so before. Watching costs something, and most who may wait need not. */
  beginWatching(): boolean {
    if (this.line.stopWatching !== undefined) return false
    this.line.stopWatching = this.watch()
    return true
  }

  /** The store is asked: what was told before is over, and others had their chance. */
  asks(): void {
    this.waiter.isTold = false
    this.line.yields = false
  }

  /** Until woken, or for so long at most; rejects when the signal is aborted. */
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
