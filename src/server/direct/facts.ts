import type { Catraca } from '../../app/open-catraca.js'
import type { CheckAnswer } from '../../guards/allowlist/types.js'

/** Fields of a check for its log line; names as in the source design. */
export interface CheckFields {
  checks: { allowlistId: string; type: string | null; reason: string }[]
  /** Memory answered every part of the check. */
  cacheHit: boolean
  /** Memory alone showed, for at least one list, that the customer is not on it. */
  bloomFiltered: boolean
}

/** Limits the length of a log line. */
const MAX_LISTS = 10

/** How a check was answered: the difference of the counters around the synchronous part of the check. */
export class CheckFacts {
  private readonly before: Catraca['checkCounts']
  private cacheHit = false
  private bloomFiltered = false

  constructor(private readonly catraca: Catraca) {
    this.before = { ...catraca.checkCounts }
  }

  /** Called right after the synchronous part, before other checks change the counters. */
  asked(): void {
    const { before } = this
    const after = this.catraca.checkCounts
    this.cacheHit = after.confirmed === before.confirmed && after.store === before.store
    this.bloomFiltered = after.filtered > before.filtered
  }

  fields({ results }: CheckAnswer): CheckFields {
    const { cacheHit, bloomFiltered } = this
    const checks = results
      .slice(0, MAX_LISTS)
      .map(({ allowlistId, type, reason }) => ({ allowlistId, type, reason }))
    return { checks, cacheHit, bloomFiltered }
  }
}
