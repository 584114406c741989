import { soon } from '../../core/timers.js'

/**
 * Work that is long for one turn of the event loop: one piece in a turn, and then as many turns for everybody else as
 * the piece is worth. One would not do: Node accepts only one new connection in each turn.
 */
export class Turns {
  private readonly waiting: { work: () => void; turns: number }[] = []
  private turnsOfOthers = 0
  private isScheduled = false

  add(work: () => void, turns: number): void {
    this.waiting.push({ work, turns })
    this.schedule()
  }

  private schedule(): void {
    if (this.isScheduled || (this.waiting.length === 0 && this.turnsOfOthers === 0)) return
    this.isScheduled = true
    soon(this.next)
  }

  private readonly next = (): void => {
    this.isScheduled = false
    const piece = this.turnsOfOthers === 0 ? this.waiting.shift() : undefined
    this.turnsOfOthers = piece?.turns ?? this.turnsOfOthers - 1
    this.schedule()
    piece?.work()
  }
}
