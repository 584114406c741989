import type { ClaimOutcome } from '../../../guards/idempotency/port.js'
import { type BatchForm, type BatchItem, ItemFailure } from '../link/batch-form.js'
import type { Argument } from '../link/redis.js'
import { FOREIGN, type Found, OWN } from './answers.js'

const FAILED = -1
const CLAIMED = 1

type Told = (number | Buffer | string | null)[]

/** The result of a claim: claimed, or the record that was found. */
export type ClaimReply = Extract<ClaimOutcome, { outcome: 'claimed' }> | Found

/** The form of `lua/idempotency-claim.lua`. If neighbouring items have the same first argument, it is sent once. */
export const claimForm: BatchForm = {
  argsOf: headedArgs,
  resultsOf(reply, items) {
    const told = reply as Told
    const results: (ClaimReply | ItemFailure)[] = []
    let claimed!: ClaimReply
    let next = 0
    for (let i = 0; i < items.length; i++) {
      const kind = told[next]
      if (kind === FAILED) {
        results.push(new ItemFailure(String(told[next + 1])))
        next += 2
      } else if (kind === OWN || kind === FOREIGN) {
        results.push(told.slice(next, next + 4) as Found)
        next += 4
      } else if (kind === CLAIMED) {
        const [attempt, expiresAt, leaseUntil] = told.slice(next + 1, next + 4) as number[]
        claimed = { outcome: 'claimed', attempt: attempt!, expiresAt: expiresAt!, leaseUntil: leaseUntil! }
        results.push(claimed)
        next += 4
      } else {
        // The same object for all; it is never changed.
        results.push(claimed)
        next++
      }
    }
    return results
  },
}

/** The form of `lua/idempotency-complete.lua`. */
export const completeForm: BatchForm = {
  argsOf: headedArgs,
  resultsOf(reply, items) {
    const told = reply as Told
    const results: unknown[] = []
    for (let next = 0; results.length < items.length; next++) {
      results.push(told[next] === FAILED ? new ItemFailure(String(told[++next])) : told[next])
    }
    return results
  },
}

function headedArgs(items: readonly BatchItem[]): Argument[] {
  const told: Argument[] = []
  for (let first = 0; first < items.length; ) {
    const head = items[first]!.args[0]!
    let next = first + 1
    while (next < items.length && items[next]!.args[0] === head) next++
    told.push(String(next - first), head)
    for (; first < next; first++) {
      const { args } = items[first]!
      for (let i = 1; i < args.length; i++) told.push(args[i]!)
    }
  }
  return told
}
