import { randomBytes } from 'node:crypto'
import type { Clock } from '../../../core/clock.js'
import { newAdjustmentId } from '../adjustments.js'
import type { LimitStore } from '../port.js'
import type { Rule } from '../rule.js'
import type { LocalLimits, LocalSubject } from './index.js'

/** Subjects that the store is told of at once: at recovery it has other work too. */
const AT_ONCE = 8

/** Charges to the store what this process admitted by itself, when the store answers again. */
export class Reconciler {
  private running: Promise<void> | undefined

  constructor(
    private readonly local: LocalLimits,
    private readonly counters: LimitStore,
    /** `steady`: that of the local shares. */
    private readonly clocks: { clock: Clock; steady: Clock },
    private readonly leaseMs: number,
    private readonly report: (message: string, error: unknown) => void,
  ) {}

  /** `at`: the time of the store, which may be another than that of this process. */
  start(at: number): void {
    this.running ??= this.run(at)
      .catch((error) => this.report('what limits admitted during an outage could not be charged', error))
      .finally(() => {
        this.running = undefined
      })
  }

  /** Resolves when nothing is being charged. */
  settled(): Promise<void> {
    return this.running ?? Promise.resolve()
  }

  private async run(at: number): Promise<void> {
    const settled = this.local.settle(this.clocks.steady.now())
    const failures: unknown[] = []
    const charge = async (): Promise<void> => {
      for (let next = settled.pop(); next !== undefined; next = settled.pop()) {
        const { subject, limits } = next
        try {
          await this.charge(subject, limits, at)
        } catch (error) {
          failures.push(error)
          // An unknown outcome may be charged twice. That is the strict side.
          this.local.oweAgain(subject, limits, this.clocks.steady.now())
        }
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, charge))
    if (failures.length > 0) throw failures[0]
  }

  private async charge(
    { entity, resource }: LocalSubject,
    used: readonly { name: string; rule: Rule; used: number }[],
    at: number,
  ): Promise<void> {
    const limits = used.map(({ name, rule, used }) => ({ name, rule, cost: 0, delta: used }))
    const id = randomBytes(18).toString('base64url')
    const lease = { id, takenAt: at, expiresAt: at + this.leaseMs, subjects: [{ entity, resource, limits }] }
    await this.counters.adjust(lease, newAdjustmentId(), this.clocks.clock.now())
  }
}
