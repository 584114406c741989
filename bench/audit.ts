/**
 * What the audit trail costs: members added one by one, with and without it, in turns, on the embedded store (durable to
 * the disk, and to the process) and on one Redis on loopback; and checks while nothing, or somebody, is being recorded.
 * Arguments: --seconds 1 --rounds 5
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Catraca, openCatraca } from '../src/app/open-catraca.js'
import { startSingle } from '../test/support/redis/index.js'
import { numberArguments } from './support/arguments.js'
import { median, report } from './support/report.js'

const { values } = numberArguments({ seconds: 1, rounds: 5 })
const figures: Record<string, number> = {}
const ratios: Record<string, number> = {}
const WIDTHS = [256, 64, 1]
let made = 0

interface Rate {
  perSecond: number
  cpuMicros: number
}

async function adding({ allowlists }: Catraca, width: number): Promise<Rate> {
  let done = 0
  const cpu = process.cpuUsage()
  const start = performance.now()
  const end = start + values.seconds * 1000
  const loop = async (): Promise<void> => {
    for (; performance.now() < end; done++) await allowlists.add('vip', `customer-${made++}`)
  }
  await Promise.all(Array.from({ length: width }, loop))
  const { user, system } = process.cpuUsage(cpu)
  return { perSecond: done / ((performance.now() - start) / 1000), cpuMicros: (user + system) / done }
}

/** In turns, so that a disturbance meets both. */
async function compare(name: string, open: (enabled: boolean) => Promise<Catraca>): Promise<void> {
  const instances = { without: await open(false), with: await open(true) }
  await instances.with.allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
  for (const width of WIDTHS) {
    const rates: Record<string, Rate[]> = { without: [], with: [] }
    for (let round = 0; round <= values.rounds; round++) {
      for (const [which, catraca] of Object.entries(instances)) {
        const rate = await adding(catraca, width)
        // The first round warms.
        if (round > 0) rates[which]!.push(rate)
      }
    }
    const [off, on] = [rates.without!, rates.with!]
    const at = `${name}, ${width} at once`
    figures[`${at}, adds/s without`] = median(off.map(({ perSecond }) => perSecond))
    figures[`${at}, adds/s with`] = median(on.map(({ perSecond }) => perSecond))
    figures[`${at}, processor µs per add without`] = median(off.map(({ cpuMicros }) => cpuMicros))
    figures[`${at}, processor µs per add with`] = median(on.map(({ cpuMicros }) => cpuMicros))
    ratios[`${at}, processor with / without`] =
      figures[`${at}, processor µs per add with`]! / figures[`${at}, processor µs per add without`]!
    ratios[`${at}, with / without`] = figures[`${at}, adds/s with`]! / figures[`${at}, adds/s without`]!
  }
  const { failures, entries } = instances.with.audit.stats()
  if (failures > 0 || !entries['allowlist.member.add']) throw new Error(`${name}: not recorded`)
  for (const catraca of Object.values(instances)) await catraca.close()
}

for (const durability of ['disk', 'process'] as const) {
  const directory = mkdtempSync(join(tmpdir(), 'catraca-bench-'))
  const store = `embedded:${directory}`
  await compare(`embedded (${durability})`, (enabled) =>
    openCatraca({ store, sweepIntervalMs: 0, embedded: { durability }, audit: { enabled } }),
  )
  rmSync(directory, { recursive: true, force: true })
}
const servers = await startSingle()
await compare('Redis', (enabled) =>
  openCatraca({ store: servers.storeUrl, sweepIntervalMs: 0, audit: { enabled } }),
)
await servers.stop()

/** Acquires from limits that are held in memory: all promises, and so what would feel a context that is followed. */
async function acquiring({ limits }: Catraca): Promise<number> {
  const cpu = process.cpuUsage()
  const COUNT = 20_000
  for (let i = 0; i < COUNT; i++) await limits.acquire({ entity: 'ann', resource: 'gpt' })
  const { user, system } = process.cpuUsage(cpu)
  return (user + system) / COUNT
}
const catraca = await openCatraca({
  store: 'memory:',
  limits: { localLease: { tokens: 1_000_000, ms: 60_000 } },
})
const limit = { capacity: 1_000_000_000, refillPeriodSeconds: 60 }
await catraca.limits.setConfig({ level: 'system', resource: 'gpt' }, { limits: { rpm: limit } })
const costs = { before: [] as number[], after: [] as number[], during: [] as number[] }
await acquiring(catraca)
for (let round = 0; round < values.rounds; round++) {
  costs.before.push(await acquiring(catraca))
  costs.during.push(await catraca.audit.as({ name: 'bench' }, () => acquiring(catraca)))
  costs.after.push(await acquiring(catraca))
}
for (const [when, found] of Object.entries(costs)) {
  figures[`acquire in memory, processor µs, ${when} somebody acts`] = median(found)
}
await catraca.close()
report({ name: 'audit', rounds: values.rounds, setting: values, figures, ratios })
