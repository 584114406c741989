/**
 * What the adapters of web frameworks cost: processor time of a request with the adapter, beyond the same request whose
 * handler asks the guard itself (for idempotency in Nest behind an interceptor that does nothing). The guard answers at once, so that only the adapter is measured; requests come without a
 * socket. Stores behind other limiters: a call of the store, beyond the call of the guard. In turns, in one process.
 * Target: at most 15 µs.
 * Arguments: --requests 2000 --rounds 5
 */
import { ASKED, type Guard, OF_METHODS, OF_REQUESTS, type Run } from './support/adapted.js'
import { FRAMEWORKS } from './support/adapted-frameworks.js'
import { NEST } from './support/adapted-nest.js'
import { STORES } from './support/adapted-stores.js'
import { numberArguments } from './support/arguments.js'
import { median, report } from './support/report.js'

const { values } = numberArguments({ requests: 2000, rounds: 5 })

async function cpuMicros(run: Run): Promise<number> {
  const before = process.cpuUsage()
  for (let i = 0; i < values.requests; i++) await run()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / values.requests
}

async function beyond(plain: Run, adapted: Run): Promise<number> {
  const costs: number[] = []
  for (let round = 0; round <= values.rounds; round++) {
    const without = await cpuMicros(plain)
    const cost = (await cpuMicros(adapted)) - without
    // The first round warms.
    if (round > 0) costs.push(cost)
  }
  return median(costs)
}

const figures: Record<string, number> = {}
for (const [framework, start] of Object.entries({ ...FRAMEWORKS, ...NEST })) {
  const guards = Object.keys(ASKED) as Guard[]
  for (const guard of framework in NEST ? guards : OF_REQUESTS) {
    const cost = await beyond(await start(guard, false), await start(guard, true))
    const name = OF_METHODS.includes(guard) ? `@${guard}` : guard
    figures[`${framework}, ${name}, processor µs beyond the guard`] = cost
  }
}
for (const [store, { plain, adapted }] of Object.entries(STORES)) {
  figures[`store of ${store}, processor µs beyond the guard`] = await beyond(plain, adapted)
}
report({ name: 'adapters', rounds: values.rounds, setting: values, figures, ratios: {} })
// Applications of Nest keep timers.
process.exit()
