/**
 * `allowlists.check` in process, awaited one by one on one core: a FIXA list beside a wave, half of those asked for
 * being members. A small and a large list, each in a store of its own (one store would give both the tree of the
 * larger), with their index in memory and without it, and a `Set` of the large list's ids as the yardstick, in turns, with
 * what no check can do without.
 * Arguments: --small 100000 --large 5000000 --checks 400000 (per round) --rounds 7
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { type Catraca, openCatraca } from '../src/app/open-catraca.js'
import { numberArguments } from './support/arguments.js'
import { checkFloors } from './support/check-floors.js'
import { randomUuids, uuidAt, uuidLines, uuidStrings } from './support/customers.js'
import { median, report } from './support/report.js'

const { values, positionals } = numberArguments({
  small: 100_000,
  large: 5_000_000,
  checks: 400_000,
  rounds: 7,
})
const LISTS = ['fixa', 'wave']
/** A busy server answers some dozens of requests in a turn of its loop, and each turn begins a new snapshot. */
const CHECKS_PER_TURN = 50
const SIZES = ['small', 'large'] as const
type Size = (typeof SIZES)[number]

const memberFile = (directory: string, size: Size) => join(directory, `${size}.ids`)
const storeUrl = (directory: string, size: Size) => `embedded:${join(directory, size)}`

const [measured] = positionals
if (measured === undefined) await prepareAndSpawn()
else await measure(measured)

async function prepareAndSpawn(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'catraca-bench-'))
  try {
    for (const size of SIZES) await prepare(directory, size)
    const script = [fileURLToPath(import.meta.url), ...process.argv.slice(2), directory]
    const child = spawn('taskset', ['-c', '0', process.execPath, ...script], { stdio: 'inherit' })
    const [code] = await once(child, 'exit')
    process.exitCode = code ?? 1
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

async function prepare(directory: string, size: Size): Promise<void> {
  console.log(`importing ${values[size]} customers`)
  const ids = randomUuids(values[size])
  writeFileSync(memberFile(directory, size), ids)
  const catraca = await openCatraca({ store: storeUrl(directory, size) })
  try {
    await catraca.allowlists.create({ id: 'fixa', name: 'Fixa', type: 'FIXA' })
    const config = { strategy: 'PERCENTAGE', percentage: 0.5 } as const
    await catraca.allowlists.create({ id: 'wave', name: 'Wave', type: 'ONDA', config })
    const { added } = await catraca.allowlists.import('fixa', Readable.from(uuidLines(ids)), {
      format: 'text',
    })
    await catraca.allowlists.rebuild('fixa')
    if (added !== values[size]) throw new Error(`${added} of ${values[size]} customers were added`)
  } finally {
    await catraca.close()
  }
}

interface Questions {
  ids: string[]
  present: number
}

/** Strings that nobody has seen before, as requests bring them, members and strangers at random. */
function questions(members: Buffer, strangers: Buffer): Questions {
  let present = 0
  const ids = Array.from({ length: values.checks }, (_, i) => {
    if (members.length === 0 || Math.random() < 0.5) return uuidAt(strangers, i)
    present++
    return uuidAt(members, Math.floor((Math.random() * members.length) / 36))
  })
  return { ids, present }
}

async function checkAll(catraca: Catraca, ids: string[]): Promise<number> {
  let found = 0
  for (let i = 0; i < ids.length; i++) {
    const { results } = await catraca.allowlists.check(ids[i]!, LISTS)
    if (results[0]!.allowed) found++
    if (i % CHECKS_PER_TURN === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  return found
}

interface Contender {
  members: Buffer
  ask(ids: string[]): number | Promise<number>
  rates: number[]
  /** Per second of processor time: what the rates would be if nobody else used this core. */
  cpuRates: number[]
}

type Contenders = Record<Size | 'smallStore' | 'largeStore' | 'strangers' | 'set', Contender>

function contender(members: Buffer, ask: Contender['ask']): Contender {
  return { members, ask, rates: [], cpuRates: [] }
}

async function measure(directory: string): Promise<void> {
  const members = Object.fromEntries(
    SIZES.map((size) => [size, readFileSync(memberFile(directory, size))]),
  ) as Record<Size, Buffer>
  const set = new Set(uuidStrings(members.large, values.large))
  const opened: Catraca[] = []
  const asking = async (size: Size, membership: { maxBytes?: number }): Promise<Contender> => {
    const catraca = await openCatraca({ store: storeUrl(directory, size), membership })
    opened.push(catraca)
    await catraca.ready
    return contender(members[size], (ids) => checkAll(catraca, ids))
  }
  const large = await asking('large', {})
  const contenders: Contenders = {
    small: await asking('small', {}),
    large,
    // Nobody is confirmed in the store.
    strangers: { ...large, members: Buffer.alloc(0), rates: [], cpuRates: [] },
    smallStore: await asking('small', { maxBytes: 0 }),
    largeStore: await asking('large', { maxBytes: 0 }),
    set: contender(members.large, (ids) => ids.reduce((found, id) => found + Number(set.has(id)), 0)),
  }
  const floors = Object.entries(checkFloors(values.large)).map(([name, work]) => ({
    name,
    work,
    nanos: [] as number[],
  }))
  const strangers = randomUuids(values.checks)
  for (let round = 0; round <= values.rounds; round++) {
    for (const [name, one] of Object.entries(contenders)) {
      const asked = questions(one.members, strangers)
      // The first round only warms up.
      await runRound(name, round === 0 ? { ...one, rates: [], cpuRates: [] } : one, asked)
    }
    for (const { work, nanos } of floors) {
      const { ids } = questions(members.large, strangers)
      const before = process.cpuUsage()
      await work(ids)
      const { user, system } = process.cpuUsage(before)
      if (round > 0) nanos.push(((user + system) * 1000) / ids.length)
    }
  }
  await Promise.all(opened.map((catraca) => catraca.close()))
  tell(
    contenders,
    Object.fromEntries(floors.map(({ name, nanos }) => [`floor: ${name}, processor ns`, median(nanos)])),
  )
}

async function runRound(name: string, { ask, rates, cpuRates }: Contender, asked: Questions): Promise<void> {
  const { ids, present } = asked
  const cpuBefore = process.cpuUsage()
  const begin = performance.now()
  const found = await ask(ids)
  const seconds = (performance.now() - begin) / 1000
  const { user, system } = process.cpuUsage(cpuBefore)
  if (found !== present) throw new Error(`${name} found ${found} of ${present} members`)
  rates.push(ids.length / seconds)
  cpuRates.push((1e6 * ids.length) / (user + system))
}

function tell(
  { small, large, smallStore, largeStore, strangers, set }: Contenders,
  floors: Record<string, number>,
): void {
  const perRound = (a: number[], b: number[]) => median(a.map((value, i) => value / b[i]!))
  report({
    name: 'check',
    rounds: values.rounds,
    setting: { smallMembers: values.small, largeMembers: values.large, checksPerRound: values.checks },
    figures: {
      'small checks/s': median(small.rates),
      'large checks/s (target 300,000)': median(large.rates),
      'large checks per processor second': median(large.cpuRates),
      'small checks/s without index': median(smallStore.rates),
      'large checks/s without index': median(largeStore.rates),
      'large checks per processor s without index': median(largeStore.cpuRates),
      'large checks/s of strangers only': median(strangers.rates),
      'Set lookups/s': median(set.rates),
      'large checks of strangers only, processor ns': 1e9 / median(strangers.cpuRates),
      'large checks, processor ns': 1e9 / median(large.cpuRates),
      'Set lookups, processor ns': 1e9 / median(set.cpuRates),
      ...floors,
    },
    ratios: {
      'cost large / small (target at most 2)': perRound(small.rates, large.rates),
      'processor cost large / small': perRound(small.cpuRates, large.cpuRates),
      'cost large / small without index': perRound(smallStore.rates, largeStore.rates),
      'cost check / Set lookup': perRound(set.rates, large.rates),
    },
  })
}
