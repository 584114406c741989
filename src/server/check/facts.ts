import type { Catraca } from '../../app/open-catraca.js'
import type { CheckAnswer } from '../../guards/allowlist/types.js'

/** Of a check, for its line in the log; names as in the source design. */
export interface CheckFields {
  checks: { allowlistId: string; type: string | null; reason: string }[]
  /** Every part of the answer was in memory. */
  cacheHit: boolean
  /** Memory alone said of at least one list that the customer is not on it. */
  bloomFiltered: boolean
}

/** The log is no place for a hundred lists. */
const MAX_LISTS = 10

/** How a check was answered: what was counted while it was asked, since a check is asked in one go. */
export class CheckFacts {
  private readonly before: Catraca['checkCounts']
  private cacheHit = false
  private bloomFiltered = false

  constructor(private readonly catraca: Catraca) {
    this.before = { ...catraca.checkCounts }
  }

  /** Right after the question, before anything is waited for: others count too. */
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
