import { soon } from '../../core/timers.js'
import { Rotation } from './rotation.js'

/** How many connections have been accepted. */
export interface Newcomers {
  count: number
}

/** For each millisecond of work. With the queue of the system full of connections, 511, work takes a seventh of the time. */
const TURNS_OF_NEWCOMERS = 64

interface Piece {
  work: () => void
  worth: number
}

/**
 * Work that is long for one turn of the event loop: one piece in a turn, and then turns for everybody else, one for each
 * millisecond that the piece took, or as many as it is known to be worth. Node accepts only one new connection in each turn:
 * as long as each turn brings one, others have more turns, in proportion to the work. Callers who have pieces take turns.
 */
export class Turns {
  private readonly begun = new Rotation<Piece>()
  private readonly waiting = new Rotation<Piece>()
  private turnsOfOthers = 0
  private turnsOfNewcomers = 0
  private newcomersBefore = 0
  private isScheduled = false
  private startedAtMs = 0

  constructor(private readonly newcomers: Readonly<Newcomers> = { count: 0 }) {}

  add(work: () => void, worth = 0, caller?: unknown): void {
    this.waiting.add(caller, { work, worth })
    this.schedule()
  }

  /** The next piece of work that has begun. It comes before work that has not: what is begun and waits takes memory. */
  goOn(work: () => void, caller?: unknown): void {
    this.begun.add(caller, { work, worth: 0 })
    this.schedule()
  }

  private schedule(): void {
    if (this.isScheduled) return
    if (this.begun.isEmpty && this.waiting.isEmpty && this.turnsOfOthers === 0) return
    this.isScheduled = true
    soon(this.begin)
    soon(this.end)
  }

  private readonly begin = (): void => {
    const piece = this.isTurnOfOthers() ? undefined : (this.begun.next() ?? this.waiting.next())
    this.startedAtMs = piece === undefined ? Number.POSITIVE_INFINITY : performance.now()
    if (piece === undefined) return
    this.turnsOfOthers = piece.worth
    this.turnsOfNewcomers = 0
    piece.work()
  }

  private isTurnOfOthers(): boolean {
    const { count } = this.newcomers
    const hasComeOne = count !== this.newcomersBefore
    this.newcomersBefore = count
    if (this.turnsOfOthers > 0) return this.turnsOfOthers-- > 0
    return hasComeOne && this.turnsOfNewcomers-- > 0
  }

  /** In the same turn, after the promises and ticks that the piece has left behind. */
  private readonly end = (): void => {
    this.isScheduled = false
    const tookMs = Math.ceil(performance.now() - this.startedAtMs)
    if (tookMs > 0) {
      this.turnsOfOthers = Math.max(this.turnsOfOthers, tookMs)
      this.turnsOfNewcomers = tookMs * TURNS_OF_NEWCOMERS
    }
    this.schedule()
  }
}
