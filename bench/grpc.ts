/**
 * Decisions over gRPC against a bare service of the same library that answers at once, with the same messages. Processor time
 * of the server, each in a process of its own, in turns.
 * Arguments: --calls 10000 --rounds 7 --inFlight 32
 */
import { numberArguments } from './support/arguments.js'
import { type GrpcSide, startSide } from './support/grpc-load.js'
import { median, report } from './support/report.js'

const { values } = numberArguments({ calls: 10_000, rounds: 7, inFlight: 32 })
const WARM_UP_ROUNDS = 2
const CUSTOMERS = 1_000

async function micros({ decide, begin, used }: GrpcSide): Promise<number> {
  await begin()
  let sent = 0
  const loop = async () => {
    while (sent < values.calls) {
      if (!(await decide(sent++ % CUSTOMERS))) throw new Error('a decision was not OK')
    }
  }
  await Promise.all(Array.from({ length: values.inFlight }, loop))
  return (await used()).cpuMicros / values.calls
}

const NAMES = ['echo', 'ahead', 'catraca'] as const
const sides = {
  echo: await startSide('echo', ''),
  // Tokens taken in advance: `limits.localLeaseTokens`.
  ahead: await startSide('ahead', 'memory:'),
  catraca: await startSide('catraca', 'memory:'),
}
const costs: Record<keyof typeof sides, number[]> = { echo: [], ahead: [], catraca: [] }
for (let round = -WARM_UP_ROUNDS; round < values.rounds; round++) {
  for (const name of NAMES) {
    const cost = await micros(sides[name])
    if (round >= 0) costs[name].push(cost)
  }
}
const ratioOf = (name: 'ahead' | 'catraca') => median(costs.echo.map((echo, i) => echo / costs[name][i]!))
report({
  name: 'grpc',
  rounds: values.rounds,
  setting: { calls: values.calls, inFlight: values.inFlight, customers: CUSTOMERS },
  figures: {
    'bare echo cpu µs': median(costs.echo),
    'decision in memory cpu µs': median(costs.ahead),
    'decision in the store cpu µs': median(costs.catraca),
  },
  ratios: {
    'decision in memory / bare echo (target 0.70)': ratioOf('ahead'),
    'decision in the store / bare echo': ratioOf('catraca'),
  },
})
for (const side of Object.values(sides)) side.stop()
