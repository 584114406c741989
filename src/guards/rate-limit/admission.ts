import { inspect } from 'node:util'
import { type CallCosts, leaseOf, statusesOf } from './answers.js'
import type { Leases } from './leases.js'
import type { Taken } from './port.js'
import type { Admitted, LimitPolicy, LimitStatus, Violation } from './types.js'

/** An admitted call. Its lease is encrypted only when the caller reads the token. */
export class Admission implements Admitted {
  readonly allowed = true
  declare readonly leaseId: string
  readonly limits: Record<string, LimitStatus>
  readonly policies: Record<string, LimitPolicy>
  declare parent?: { entity: string; limits: Record<string, LimitStatus> }
  declare shadowViolations?: Violation[]
  readonly #leases: Leases
  readonly #number: number
  readonly #wanted: readonly CallCosts[]
  readonly #taken: Taken
  readonly #leaseMs: number
  #token: string | undefined

  constructor(leases: Leases, leaseMs: number, wanted: readonly CallCosts[], taken: Taken) {
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

  /** The HTTP response body: without the fields that headers carry. */
  toJSON(): Admitted {
    const { allowed, leaseId, limits, parent, shadowViolations } = this
    return {
      ...{ allowed, leaseId, limits },
      ...(parent && { parent }),
      ...(shadowViolations && { shadowViolations }),
    }
  }

  /** Shows the token. By default, the inspector shows only an accessor. */
  [inspect.custom](): Admitted {
    return { ...this }
  }
}

/** An own, enumerable property, so that a copy of the answer includes the token. */
const LEASE_ID: PropertyDescriptor & ThisType<Admission> = {
  enumerable: true,
  configurable: true,
  get() {
    return Admission.tokenOf(this)
  },
}
