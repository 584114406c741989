import type { Admitted } from './types.js'

/** What gives the slots of concurrency limits back: changes for `adjust`. `costs`: 1 of each limit when absent. */
export function slotsOf(
  { policies = {} }: Admitted,
  costs?: Record<string, number>,
): (readonly [name: string, amount: number])[] {
  return Object.entries(policies).flatMap(([name, { isConcurrency }]) => {
    const cost = costs === undefined ? 1 : Object.hasOwn(costs, name) ? costs[name]! : 0
    return isConcurrency && cost > 0 ? [[name, -cost] as const] : []
  })
}
