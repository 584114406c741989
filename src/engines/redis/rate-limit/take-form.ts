import type { LimitView } from '../../../guards/rate-limit/algorithms/algorithm.js'
import type { Taken } from '../../../guards/rate-limit/port.js'
import { type BatchForm, type BatchItem, ItemFailure } from '../link/batch-form.js'
import type { Argument } from '../link/redis.js'

const FAILED = -1

/** The form of `lua/limit-take.lua`: equal arguments of neighbours are sent once, and the reply is flat. */
export const takeForm: BatchForm = {
  argsOf(items) {
    const told: Argument[] = []
    for (let first = 0; first < items.length; ) {
      const { args } = items[first]!
      let next = first + 1
      while (next < items.length && asksTheSame(items[next]!, args)) next++
      told.push(String(next - first), ...args)
      first = next
    }
    return told
  },

  resultsOf(reply, items) {
    const told = reply as (number | string)[]
    const results: (Taken | ItemFailure)[] = []
    let next = 0
    for (let i = 0; i < items.length; i++) {
      if (told[next] === FAILED) {
        results.push(new ItemFailure(String(told[next + 1])))
        next += 2
        continue
      }
      const allowed = told[next] === 1
      const at = told[next + 1] as number
      const views: LimitView[] = []
      const end = next + 3 + 3 * (told[next + 2] as number)
      for (next += 3; next < end; next += 3) {
        views.push({
          remaining: told[next] as number,
          resetMs: told[next + 1] as number,
          retryAfterMs: told[next + 2] as number,
        })
      }
      results.push({ allowed, at, views: [views] })
    }
    return results
  },
}

function asksTheSame({ args }: BatchItem, other: readonly Argument[]): boolean {
  return args === other || args.every((arg, i) => arg === other[i])
}
