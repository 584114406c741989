import type { LimitView } from '../../../guards/rate-limit/algorithms/algorithm.js'
import type { Taken } from '../../../guards/rate-limit/port.js'
import { type BatchForm, type BatchItem, ItemFailure } from '../link/batch-form.js'
import type { Argument } from '../link/redis.js'

const FAILED = -1

/** The form of `lua/limit-take.lua`: the reply is flat. */
export const takeForm: BatchForm = {
  argsOf: argsOfRuns,

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

/** The form of `lua/limit-take-bucket.lua`: one limit, and one time for all that are decided by the server's clock. */
export const bucketForm: BatchForm = {
  argsOf: argsOfRuns,

  resultsOf(reply, items) {
    const told = reply as (number | string)[]
    const serverNow = told[0] as number
    const results: (Taken | ItemFailure)[] = []
    let next = 1
    for (let i = 0; i < items.length; i++) {
      const remaining = told[next]
      const how = items[i]!.args[0]!
      const at = how === '' ? serverNow : Number(how)
      if (typeof remaining === 'string') {
        results.push(new ItemFailure(remaining))
        next++
      } else if (remaining! >= 0) {
        const view = { remaining: remaining!, resetMs: told[next + 1] as number, retryAfterMs: 0 }
        results.push({ allowed: true, at, views: [[view]] })
        next += 2
      } else {
        const [resetMs, retryAfterMs] = [told[next + 1] as number, told[next + 2] as number]
        results.push({ allowed: false, at, views: [[{ remaining: -1 - remaining!, resetMs, retryAfterMs }]] })
        next += 3
      }
    }
    return results
  },
}

/** Equal arguments of neighbours are sent once, after their number. */
function argsOfRuns(items: readonly BatchItem[]): Argument[] {
  const told: Argument[] = []
  for (let first = 0; first < items.length; ) {
    const { args } = items[first]!
    let next = first + 1
    while (next < items.length && asksTheSame(items[next]!, args)) next++
    told.push(String(next - first), ...args)
    first = next
  }
  return told
}

function asksTheSame({ args }: BatchItem, other: readonly Argument[]): boolean {
  return args === other || args.every((arg, i) => arg === other[i])
}
