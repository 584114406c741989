import { leaseOf, statusesOf, type Wanted } from './answers.js'
import type { Leases } from './leases.js'
import type { Taken } from './port.js'
import type { Admitted, LimitPolicy, LimitStatus, Violation } from './types.js'

/** An admitted call. Its lease is sealed when somebody asks for the token, and not before. */
export class Admission implements Admitted {
  readonly allowed = true
  readonly limits: Record<string, LimitStatus>
  readonly policies: Record<string, LimitPolicy>
  declare parent?: { entity: string; limits: Record<string, LimitStatus> }
  declare shadowViolations?: Violation[]
  readonly #leases: Leases
  readonly #number: number
  readonly #wanted: readonly Wanted[]
  readonly #taken: Taken
  readonly #leaseMs: number
  #token: string | undefined

  constructor(leases: Leases, leaseMs: number, wanted: readonly Wanted[], taken: Taken) {
    this.limits = statusesOf(wanted[0]!, taken.views[0]!)
    this.policies = wanted[0]!.policies
    this.#leases = leases
    this.#number = leases.reserve()
    this.#wanted = wanted
    this.#taken = taken
    this.#leaseMs = leaseMs
  }

  get leaseId(): string {
    this.#token ??= this.#leases.seal(this.#number, leaseOf(this.#wanted, this.#taken, this.#leaseMs))
    return this.#token
  }

  /** The token stands in no field of its own, and would be left out. */
  toJSON(): Admitted {
    const { allowed, leaseId, limits, parent, shadowViolations } = this
    return {
      allowed,
      leaseId,
      limits,
      ...(parent && { parent }),
      ...(shadowViolations && { shadowViolations }),
    }
  }
}
