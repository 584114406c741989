import { soon } from '../../../core/timers.js'

interface PendingChange {
  change: () => unknown
  isFreeing: boolean
  resolve(result: unknown): void
  reject(error: unknown): void
}

type WriteNow = <T>(change: () => T, isFreeing: boolean) => T

/** The changes of one event-loop turn, which share a transaction: a commit costs far more than a change. */
export class WriteGroup {
  private waiting: PendingChange[] = []

  /** `writeNow` applies all of a change or nothing. */
  constructor(private readonly writeNow: WriteNow) {}

  /** Resolves when the change is committed. */
  add<T>(change: () => T, isFreeing: boolean): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.waiting.push({ change, isFreeing, resolve: resolve as (result: unknown) => void, reject })
      if (this.waiting.length === 1) soon(() => this.commit())
    })
  }

  commit(): void {
    const group = this.waiting
    if (group.length === 0) return
    this.waiting = []
    try {
      const isFreeing = group.every((one) => one.isFreeing)
      const results = this.writeNow(() => group.map(({ change }) => change()), isFreeing)
      group.forEach(({ resolve }, i) => {
        resolve(results[i])
      })
    } catch (error) {
      if (group.length === 1) group[0]!.reject(error)
      else for (const one of group) this.commitAlone(one)
    }
  }

  /**
   * One change of the group failed, which aborted the others too. Each is committed again in a separate transaction.
   */
  private commitAlone({ change, isFreeing, resolve, reject }: PendingChange): void {
    try {
      resolve(this.writeNow(change, isFreeing))
    } catch (error) {
      reject(error)
    }
  }
}
