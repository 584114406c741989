import { UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { type Catraca, openCatraca } from '../../src/app/open-catraca.js'
import { CapacityCounts } from '../../src/engines/dynamodb/client/capacity.js'
import { createTables } from '../../src/engines/dynamodb/tables/create-tables.js'
import { TABLE_ROLES } from '../../src/engines/dynamodb/tables/tables.js'
import { CREDENTIALS, startDynamo } from '../../test/support/dynamodb-server.js'
import { median } from './report.js'

interface DynamodbSizes {
  seconds: number
  rounds: number
  inFlight: number
  keys: number
}

type Figures = Record<string, number>
type Call = (i: number) => Promise<unknown>

/** Never used up, and never full again: so it is the same update each time. */
const OPEN_LIMIT = { capacity: 1_000_000, refillAmount: 60, refillPeriodSeconds: 60 }
/** An emulator on a busy machine takes some hundreds of writes a second. */
const MOST_KEYS = 2000

/** Acquires over an emulator on loopback, whose speed says little; what is counted holds anywhere. */
export async function measureDynamodb(given: DynamodbSizes): Promise<{ figures: Figures; ratios: Figures }> {
  const sizes = { ...given, keys: Math.min(given.keys, MOST_KEYS) }
  const server = await startDynamo()
  const names = server.names()
  const admin = server.client()
  await createTables(admin.sdk, names, TABLE_ROLES)
  const counts = new CapacityCounts()
  const catraca = await openCatraca({
    store: server.url(names),
    sweepIntervalMs: 0,
    limits: { timeoutMs: 10_000, usage: false },
    dynamodb: { credentials: CREDENTIALS, counter: counts, probeIntervalMs: 0 },
  })
  const raw: Call = (i) => admin.sdk.send(rawUpdate(names.guards, i % sizes.keys))
  try {
    await configure(catraca)
    await catraca.limits.warmUp()
    const speed = await compare(sizes, catraca, raw)
    const units = await countAcquires(sizes, catraca, counts)
    return {
      figures: { ...speed.figures, ...units },
      ratios: speed.ratios,
    }
  } finally {
    await catraca.close()
    await server.stop()
  }
}

async function configure({ limits }: Catraca): Promise<void> {
  const system = (resource: string, of: Record<string, object>) =>
    limits.setConfig({ level: 'system', resource }, { limits: of })
  await system('one', { rpm: OPEN_LIMIT })
  await system('two', { rpm: OPEN_LIMIT, tpm: OPEN_LIMIT })
  await limits.setConfig({ level: 'resource', resource: 'one' }, { limits: { rpm: { burst: 2_000_000 } } })
}

const rawUpdate = (TableName: string, i: number) =>
  new UpdateItemCommand({
    TableName,
    Key: { PK: { S: `RAW#${i}` }, SK: { S: 'STATE' } },
    UpdateExpression: 'ADD #n :one',
    ExpressionAttributeNames: { '#n': 'n' },
    ExpressionAttributeValues: { ':one': { N: '1' } },
    ReturnValues: 'ALL_NEW',
  })

const taking =
  ({ limits }: Catraca, resource: string, keys: number): Call =>
  (i) =>
    limits.acquire({ entity: `user-${i % keys}`, resource })

async function compare({ rounds, seconds, inFlight, keys }: DynamodbSizes, catraca: Catraca, raw: Call) {
  const calls: Record<string, Call> = {
    'dynamodb, one limit': taking(catraca, 'one', keys),
    'dynamodb, two limits': taking(catraca, 'two', keys),
    'dynamodb, one key': taking(catraca, 'one', 1),
    'UpdateItem as it is': raw,
  }
  // Who comes for the first time is asked for their configuration too.
  for (const call of Object.values(calls)) await each(keys, inFlight, call)
  const rates: Record<string, number[]> = {}
  for (let round = 0; round < rounds; round++) {
    for (const [name, call] of Object.entries(calls)) {
      ;(rates[name] ??= []).push(await load(call, inFlight, seconds * 1000))
    }
  }
  const ratio = (one: string) =>
    median(rates[one]!.map((rate, i) => rate / rates['UpdateItem as it is']![i]!))
  return {
    figures: Object.fromEntries(Object.entries(rates).map(([name, of]) => [`${name}/s`, median(of)])),
    ratios: { 'dynamodb: one limit / UpdateItem as it is': ratio('dynamodb, one limit') },
  }
}

async function load(call: Call, inFlight: number, ms: number): Promise<number> {
  let done = 0
  const start = performance.now()
  const loop = async (first: number) => {
    for (let i = first; performance.now() - start < ms; i += inFlight, done++) await call(i)
  }
  await Promise.all(Array.from({ length: inFlight }, (_, i) => loop(i)))
  return (1000 * done) / (performance.now() - start)
}

/** Everybody comes once, and then again: the second time counts. */
async function countAcquires({ keys, inFlight }: DynamodbSizes, catraca: Catraca, counts: CapacityCounts) {
  const visit = () => each(keys, inFlight, taking(catraca, 'one', keys))
  await visit()
  counts.reset()
  await visit()
  const taken = counts.of('limit.take')
  const looked = counts.of('limit.look')
  const refused = counts.retries().reduce((sum, row) => sum + row.refused, 0)
  return {
    'dynamodb, write units per acquire': taken.writeUnits / keys,
    'dynamodb, read units per acquire': (taken.readUnits + looked.readUnits) / keys,
    'dynamodb, calls per acquire': (taken.calls + looked.calls + refused) / keys,
  }
}

async function each(count: number, together: number, call: Call): Promise<void> {
  let next = 0
  const loop = async () => {
    while (next < count) await call(next++)
  }
  await Promise.all(Array.from({ length: together }, loop))
}
