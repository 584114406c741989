import { CatracaProvider } from '../../src/adapters/openfeature.js'
import { openCatraca } from '../../src/app/open-catraca.js'
import { numberedCustomer } from './prepare-checks.js'

/** Evaluates in process, by the library's check or by the provider. Told `{ from, count }`, it answers the time for one. */
const [store = '', side = '', members = '0'] = process.argv.slice(2)
const catraca = await openCatraca({ store })
await catraca.ready
const provider = new CatracaProvider(catraca)
await provider.initialize()

const evaluate: Record<string, (customer: string) => Promise<boolean>> = {
  check: async (customer) => (await catraca.allowlists.check(customer, ['vip'])).overallAllowed,
  provider: async (targetingKey) =>
    (await provider.resolveBooleanEvaluation('vip', false, { targetingKey })).value,
}

async function run(from: number, count: number): Promise<number> {
  const before = process.cpuUsage()
  for (let i = 0; i < count; i++) {
    // Every second one is a member.
    const place = (from + i) * 7919
    const number = i % 2 === 0 ? place % Number(members) : Number(members) + (place % Number(members))
    const isMember = await evaluate[side]!(numberedCustomer(number))
    if (isMember !== (i % 2 === 0)) throw new Error(`${side}: wrong for customer ${number}`)
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / count
}

process.on('message', async ({ from, count }: { from: number; count: number }) => {
  process.send!(await run(from, count))
})
process.on('disconnect', () => process.exit(0))
process.send!('ready')
