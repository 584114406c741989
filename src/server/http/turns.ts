import { soon } from '../../core/timers.js'
import { Rotation } from './rotation.js'

/**
 * Work that is long for one turn of the event loop: one piece in a turn, and then turns for everybody else, one for each
 * millisecond that the piece took, or as many as it is known to be worth. One would not do: Node accepts only one new
 * connection in each turn. Callers who have pieces take turns.
 */
export class Turns {
  private readonly waiting = new Rotation<{ work: () => void; worth: number }>()
  private turnsOfOthers = 0
  private isScheduled = false
  private startedAtMs = 0

  add(work: () => void, worth = 0, caller?: unknown): void {
    this.waiting.add(caller, { work, worth })
    this.schedule()
  }

  private schedule(): void {
    if (this.isScheduled || (this.waiting.isEmpty && this.turnsOfOthers === 0)) return
    this.isScheduled = true
    soon(this.begin)
    soon(this.end)
  }

  private readonly begin = (): void => {
    const piece = this.turnsOfOthers === 0 ? this.waiting.next() : undefined
    this.turnsOfOthers = piece?.worth ?? this.turnsOfOthers - 1
    this.startedAtMs = piece === undefined ? Number.POSITIVE_INFINITY : performance.now()
    piece?.work()
  }

  /** In the same turn, after the promises and ticks that the piece has left behind. */
  private readonly end = (): void => {
    this.isScheduled = false
    this.turnsOfOthers = Math.max(this.turnsOfOthers, Math.ceil(performance.now() - this.startedAtMs))
    this.schedule()
  }
}
