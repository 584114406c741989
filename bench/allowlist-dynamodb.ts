/**
 * Allowlists on DynamoDB: units counted, and speed against what the same client does without them, in one run.
 * The emulator is one process beside this one, so that only ratios mean anything; units are what DynamoDB charges.
 * Arguments: --rounds 5 --seconds 2 --members 3000 --importRows 20000 --followSeconds 10
 */
import { type Catraca, openCatraca } from '../src/app/open-catraca.js'
import { plainTables } from '../test/support/dynamodb-bulk.js'
import { CREDENTIALS, startDynamo } from '../test/support/dynamodb-server.js'
import { numberArguments } from './support/arguments.js'
import { randomUuids, uuidLines, uuidStrings } from './support/customers.js'
import { countFollowing } from './support/dynamodb-following.js'
import { importRaw, readRaw } from './support/dynamodb-raw.js'
import { countUnits, type Units } from './support/dynamodb-units.js'
import { median, report } from './support/report.js'

const { values } = numberArguments({
  rounds: 5,
  seconds: 2,
  members: 3000,
  importRows: 20_000,
  followSeconds: 10,
})
const { rounds, seconds, members, importRows, followSeconds } = values
/** What one partition of a table takes in a second. */
const PARTITION_WRITE_UNITS = 1000

/** Calls a second, with so many on their way at any time. */
async function rate(ask: (i: number) => Promise<unknown>, inFlight: number): Promise<number> {
  const begin = performance.now()
  const end = begin + 1000 * seconds
  let begun = 0
  let done = 0
  const loop = async (): Promise<void> => {
    while (performance.now() < end) {
      await ask(begun++)
      done++
    }
  }
  await Promise.all(Array.from({ length: inFlight }, loop))
  return done / ((performance.now() - begin) / 1000)
}

type Rounds = Record<string, number[]>

/** Each in turn, round by round, so that a noisy moment harms all alike. */
async function inTurn(measured: Record<string, () => Promise<number>>): Promise<Rounds> {
  const seen: Rounds = {}
  for (let round = 0; round < rounds; round++) {
    for (const [name, measure] of Object.entries(measured)) (seen[name] ??= []).push(await measure())
  }
  return seen
}

const medians = (seen: Rounds): Record<string, number> =>
  Object.fromEntries(Object.entries(seen).map(([name, all]) => [name, median(all)]))

/** The middle of the ratios, each of two neighbours in time. */
function ratio(seen: Rounds, one: string, other: string): number {
  return median(seen[one]!.map((value, round) => value / seen[other]![round]!))
}

async function* streamed(uuids: Buffer): AsyncGenerator<Uint8Array> {
  yield* uuidLines(uuids)
}

const server = await startDynamo()

/** Tables of its own, without streams: with them this emulator slows down with all that it has ever stored. */
async function opened(): Promise<{ catraca: Catraca; table: string }> {
  const url = await plainTables(server)
  const catraca = await openCatraca({
    store: server.url(url.tables),
    sweepIntervalMs: 0,
    membership: { verificationEntries: 0 },
    dynamodb: { credentials: CREDENTIALS, checkTables: false, probeIntervalMs: 0 },
  })
  return { catraca, table: url.tables.allowlists }
}

async function checkRates(): Promise<Rounds> {
  const { catraca, table } = await opened()
  const { sdk } = server.client()
  const known = randomUuids(members)
  const ids = uuidStrings(known, members)
  await catraca.allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
  await catraca.allowlists.import('vip', streamed(known), { format: 'text' })
  await catraca.allowlists.rebuild('vip')
  await catraca.allowlists.check('nobody', ['vip'])
  const raw = (i: number) => readRaw(sdk, table, 'vip', ids[i % members]!)
  const confirmed = (i: number) => catraca.allowlists.check(ids[i % members]!, ['vip'])
  let added = 0
  const add = () => catraca.allowlists.add('vip', `added-${added++}`)
  const rates = await inTurn({
    'raw GetItem/s, 64 in flight': () => rate(raw, 64),
    'confirmed checks/s, 64 in flight': () => rate(confirmed, 64),
    'raw GetItem/s, 1 in flight': () => rate(raw, 1),
    'confirmed checks/s, 1 in flight': () => rate(confirmed, 1),
    'single adds/s to one list, 1 in flight': () => rate(add, 1),
    'single adds/s to one list, 64 in flight': () => rate(add, 64),
  })
  await catraca.close()
  return rates
}

async function importRates(): Promise<Rounds> {
  const { sdk } = server.client()
  return inTurn({
    'raw BatchWriteItem, rows/s': async () => {
      const { tables } = await plainTables(server)
      return importRaw(sdk, tables.allowlists, uuidStrings(randomUuids(importRows), importRows))
    },
    'import, rows/s': async () => {
      const { catraca } = await opened()
      await catraca.allowlists.create({ id: 'imported', name: 'imported', type: 'FIXA' })
      const body = streamed(randomUuids(importRows))
      const begin = performance.now()
      await catraca.allowlists.import('imported', body, { format: 'text' })
      const perSecond = importRows / ((performance.now() - begin) / 1000)
      await catraca.close()
      return perSecond
    },
  })
}

function spelled(units: Record<string, Units>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(units).flatMap(([name, { read, write }]) => [
      [`read units: ${name}`, read],
      [`write units: ${name}`, write],
    ]),
  )
}

const units = await countUnits(server)
const [one, six] = [
  await countFollowing(server, 1, followSeconds),
  await countFollowing(server, 6, followSeconds),
]
const following = {
  'pod that follows one list, a second': one.pod,
  'pod that follows six lists, a second': six.pod,
  'relay without changes, a second': one.relay,
}
const checks = await checkRates()
const imports = await importRates()
// The unit of the index is written to another partition, of another table.
const alone = units['add of a customer']!.write - 1
const together = units['48 adds at once, each']!.write - 1
report({
  name: 'allowlist-dynamodb',
  rounds,
  setting: values,
  figures: {
    ...spelled({ ...units, ...following }),
    'single adds/s that the partition of a list allows, one by one': PARTITION_WRITE_UNITS / alone,
    'single adds/s that the partition of a list allows, 48 at once': PARTITION_WRITE_UNITS / together,
    ...medians(checks),
    ...medians(imports),
  },
  ratios: {
    'confirmed ÷ raw GetItem, 64 in flight (target 0.85)': ratio(
      checks,
      'confirmed checks/s, 64 in flight',
      'raw GetItem/s, 64 in flight',
    ),
    'confirmed ÷ raw GetItem, 1 in flight': ratio(
      checks,
      'confirmed checks/s, 1 in flight',
      'raw GetItem/s, 1 in flight',
    ),
    'import ÷ raw BatchWriteItem (target 0.8)': ratio(
      imports,
      'import, rows/s',
      'raw BatchWriteItem, rows/s',
    ),
  },
})
await server.stop()
