import { inspect } from 'node:util'
import { leaseOf, statusesOf, type Wanted } from './answers.js'
import type { Leases } from './leases.js'
import type { Taken } from './port.js'
import type { Admitted, LimitPolicy, LimitStatus, Violation } from './types.js'

/** An admitted call. Its lease is sealed when somebody reads the token, and not before. */
export class Admission implements Admitted {
  readonly allowed = true
  declare readonly leaseId: string
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
    Object.defineProperty(this, 'leaseId', LEASE_ID)
    this.limits = statusesOf(wanted[0]!, taken.views[0]!)
    this.policies = wanted[0]!.policies
    this.#leases = leases
    this.#number = leases.reserve()
    this.#wanted = wanted
    this.#taken = taken
    this.#leaseMs = leaseMs
  }

  static tokenOf(answer: Admission): string {
    answer.#token ??= answer.#leases.seal(
      answer.#number,
      leaseOf(answer.#wanted, answer.#taken, answer.#leaseMs),
    )
    return answer.#token
  }

  /** As the answer of a server: what headers tell is left out. */
  toJSON(): Admitted {
    const { allowed, leaseId, limits, parent, shadowViolations } = this
    return {
      ...{ allowed, leaseId, limits },
      ...(parent && { parent }),
      ...(shadowViolations && { shadowViolations }),
    }
  }

  /** With the token, where the inspector would only say that there is an accessor. */
  [inspect.custom](): Admitted {
    return { ...this }
  }
}

/** A property of the answer itself, so that whoever copies the answer has the token too. */
const LEASE_ID: PropertyDescriptor & ThisType<Admission> = {
  enumerable: true,
  configurable: true,
  get() {
    return Admission.tokenOf(this)
  },
}
