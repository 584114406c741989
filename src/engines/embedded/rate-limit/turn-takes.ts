import { soon } from '../../../core/timers.js'
import type { SubjectCosts, Taken } from '../../../guards/rate-limit/port.js'
import type { TakeRequest } from './counters.js'

export interface WaitingTake extends TakeRequest {
  resolve(taken: Taken): void
  reject(error: unknown): void
}

/** Collects the takes of one event-loop turn, which share a transaction. */
export class TurnTakes {
  private waiting: WaitingTake[] = []

  constructor(private readonly send: (takes: WaitingTake[]) => void) {}

  take(subjects: readonly SubjectCosts[], now: number): Promise<Taken> {
    return new Promise<Taken>((resolve, reject) => {
      if (this.waiting.length === 0) soon(() => this.flush())
      this.waiting.push({ subjects, now, resolve, reject })
    })
  }

  flush(): void {
    const { waiting } = this
    if (waiting.length === 0) return
    this.waiting = []
    this.send(waiting)
  }
}

export function rejectAll(takes: readonly WaitingTake[], error: unknown): void {
  for (const { reject } of takes) reject(error)
}
