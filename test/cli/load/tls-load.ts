/** Asks the server of the argument for a moment: authorities are read when a process starts. */
import { seeded } from '../../../src/cli/load/arrivals.js'
import { measure } from '../../../src/cli/load/measure.js'
import { operation } from '../../../src/cli/load/mixes/mix.js'
import { originOf } from '../../../src/cli/load/origin.js'

const origin = originOf(process.argv[2]!, undefined)
const request = { operation: operation('ask', 200), text: origin.get('/x') }
const { answered, errorCount } = await measure({
  ...{ origin, warmUpMs: 0, mix: 'test', next: () => request },
  plan: {
    ...({ rate: 200, durationMs: 500, arrivals: 'constant', spin: false, random: seeded(1) } as const),
    ...{ connections: 2, maxConnections: 16, timeoutMs: 30_000 },
  },
})
process.stdout.write(JSON.stringify({ answered, errorCount }))
