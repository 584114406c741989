import { randomBytes } from 'node:crypto'
import type { Clock } from '../../core/clock.js'
import type { Deadlines } from '../../core/deadlines.js'
import { CatracaError, invalid, isCatracaError } from '../../core/errors.js'
import { adjustmentName, newAdjustmentId } from './adjustments.js'
import { checkDelta } from './costs.js'
import { type Lease, type LeaseContent, LeaseSealer } from './lease-token.js'
import { costNameOf } from './policy.js'
import type { LeaseOutcome, LeaseUse, LimitConfigStore, LimitStore } from './port.js'
import type { LeaseChange } from './types.js'

const SECRET_BYTES = 32
/** The lease of an answer given without the engine: there is nothing to give back. */
export const NO_LEASE = 'none'

/** Issues leases as encrypted tokens, decrypts them, adjusts them and gives them back. */
export class Leases {
  private sealer: LeaseSealer | undefined

  constructor(
    private readonly counters: LimitStore,
    private readonly configs: LimitConfigStore,
    private readonly clock: Clock,
    private readonly deadlines: Deadlines,
    secret: string | undefined,
  ) {
    if (secret !== undefined) this.sealer = new LeaseSealer(Buffer.from(secret))
  }

  /** Reads the secret from the store. Leases can be issued and read only after that. */
  async open(): Promise<void> {
    if (this.sealer !== undefined) return
    const secret = await this.configs.secret(randomBytes(SECRET_BYTES).toString('base64url'))
    this.sealer ??= new LeaseSealer(Buffer.from(secret, 'base64url'))
  }

  /** The number of a new lease. This and all methods below require `open` first. */
  reserve(): number {
    return this.sealer!.reserve()
  }

  seal(number: number, content: LeaseContent): string {
    return this.sealer!.seal(number, content)
  }

  leaseOf(number: number, content: LeaseContent): Lease {
    return this.sealer!.leaseOf(number, content)
  }

  /** Whether the lease has run out, the engine decides: its clock issued the lease. */
  read(leaseId: string): Lease {
    return this.sealer!.open(leaseId)
  }

  /** Counts once per `adjustmentId`. Without one, each call is a new adjustment. */
  async adjust(
    lease: Lease,
    input: Record<string, number>,
    adjustmentId = newAdjustmentId(),
  ): Promise<LeaseChange> {
    const name = adjustmentName(adjustmentId)
    const delta = checkDelta(input)
    const known = new Set(lease.subjects.flatMap(({ limits }) => limits.map(({ name }) => costNameOf(name))))
    for (const name of Object.keys(delta)) {
      if (!known.has(name)) throw invalid(`delta.${name.slice(0, 64)}`, 'is not a limit of this lease')
    }
    const changing = this.change(
      lease,
      (limit) => (Object.hasOwn(delta, costNameOf(limit)) ? delta[costNameOf(limit)]! : 0),
      (use, now) => this.counters.adjust(use, name, now),
    )
    // Returns the id, so that the caller can retry with it.
    return changing.catch((error) => {
      if (!isCatracaError(error, 'UNKNOWN_OUTCOME')) throw error
      throw new CatracaError('UNKNOWN_OUTCOME', error.message, { cause: error, facts: { adjustmentId } })
    })
  }

  giveBack(lease: Lease): Promise<LeaseChange> {
    return this.change(
      lease,
      () => 0,
      (use, now) => this.counters.giveBack(use, now),
    )
  }

  private async change(
    lease: Lease,
    deltaOf: (limit: string) => number,
    verb: (use: LeaseUse, now: number) => Promise<LeaseOutcome>,
  ): Promise<LeaseChange> {
    const subjects = lease.subjects
      .filter(({ limits }) => limits.length > 0)
      .map(({ limits, ...subject }) => ({
        ...subject,
        limits: limits.map((limit) => ({ ...limit, delta: deltaOf(limit.name) })),
      }))
    // The lease of an answer given without the engine took nothing.
    if (subjects.length === 0) return { applied: true }
    const work = verb({ ...lease, subjects }, this.clock.now())
    const outcome = await this.deadlines.change(work)
    if (outcome === 'expired') throw new CatracaError('LEASE_NOT_FOUND', 'the lease has run out')
    return { applied: outcome === 'done' }
  }
}
