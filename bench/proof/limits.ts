/**
 * Several processes hammer one key on one store: a directory, a Redis, Sentinels whose primary dies, and a DynamoDB. What was
 * admitted must not pass the rule, and must reach nearly all of it. Arguments: --seconds 20 --processes 8 --capacity 500 --perSecond 2000
 */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { openCatraca } from '../../src/app/open-catraca.js'
import { createTables } from '../../src/engines/dynamodb/tables/create-tables.js'
import { TABLE_ROLES } from '../../src/engines/dynamodb/tables/tables.js'
import { CREDENTIALS_ENV, startDynamo } from '../../test/support/dynamodb-server.js'
import { startSentinel, startSingle } from '../../test/support/redis/index.js'
import type { LimitPlan } from '../support/limit-process.js'
import { demand, type Figures, heard, inTemporaryDirectory, whenStarted } from '../support/proof.js'

const PROCESS = fileURLToPath(new URL('../support/limit-process.js', import.meta.url))
const SIZES = { seconds: 20, processes: 8, capacity: 500, perSecond: 2000, inFlight: 16 }
/** Of what the rule allows from the first to the last admission. */
const LEAST_SHARE = 0.98

interface Tally {
  type: 'done'
  admitted: number
  denied: number
  failed: number
  deniedHere: number
  /** Between these everything was admitted. */
  firstAt: number
  lastAt: number
}

type Told = Tally | { type: 'begun' }
type Sizes = typeof SIZES
type Given = Partial<Sizes>

export function run(given: Given, leastShare = LEAST_SHARE): Promise<Figures> {
  return inTemporaryDirectory((directory) => onStore(`embedded:${directory}`, given, leastShare))
}

/** The same over one Redis. */
export async function runOnRedis(given: Given, leastShare = LEAST_SHARE): Promise<Figures> {
  const servers = await startSingle()
  try {
    return await onStore(servers.storeUrl, given, leastShare)
  } finally {
    await servers.stop()
  }
}

/**
 * The same behind Sentinels, whose primary is killed half-way. What no replica had is admitted again: at most a bucket,
 * however much was lost.
 */
export async function runFailover(given: Given): Promise<Figures> {
  const servers = await startSentinel()
  const { seconds, capacity } = { ...SIZES, ...given }
  try {
    const [primary] = await servers.primaries()
    let killing: NodeJS.Timeout | undefined
    const onBegun = (): void => {
      killing ??= setTimeout(() => void primary!.kill(), (seconds * 1000) / 2)
    }
    const figures = await onStore(servers.storeUrl, given, 0, { slack: capacity, onBegun })
    clearTimeout(killing)
    demand((await servers.primaries())[0] !== primary, 'no other server took over')
    return figures
  } finally {
    await servers.stop()
  }
}

/**
 * The same over DynamoDB: one item takes about a thousand writes a second, and the emulator on a busy machine some
 * hundreds, so the rule is smaller.
 */
export async function runOnDynamodb(given: Given, leastShare = LEAST_SHARE): Promise<Figures> {
  const server = await startDynamo()
  const names = server.names()
  Object.assign(process.env, CREDENTIALS_ENV)
  try {
    await createTables(server.client().sdk, names, TABLE_ROLES)
    const smaller = { ...given, ...smallRule(given), inFlight: DYNAMODB_IN_FLIGHT }
    return await onStore(server.url(names), smaller, leastShare)
  } finally {
    await server.stop()
  }
}

const DYNAMODB_SHARE = 40
/** More on one item wait for each other until their time is up. */
const DYNAMODB_IN_FLIGHT = 4
const smallRule = ({ capacity = SIZES.capacity, perSecond = SIZES.perSecond }: Given): Given => ({
  capacity: Math.ceil(capacity / DYNAMODB_SHARE),
  perSecond: Math.ceil(perSecond / DYNAMODB_SHARE),
})

interface Trouble {
  /** What may be admitted beyond the rule. */
  slack: number
  /** Called when a process begins to be admitted. */
  onBegun(): void
}
const NO_TROUBLE: Trouble = { slack: 0, onBegun: () => {} }

async function onStore(
  store: string,
  given: Given,
  leastShare: number,
  { slack, onBegun } = NO_TROUBLE,
): Promise<Figures> {
  const { seconds, processes, capacity, perSecond, inFlight } = { ...SIZES, ...given }
  const catraca = await openCatraca({ store, sweepIntervalMs: 0 })
  const rule = { capacity, refillAmount: perSecond, refillPeriodSeconds: 1 }
  await catraca.limits.setConfig({ level: 'system', resource: 'proof' }, { limits: { x: rule } })
  const tallies = await hammer({ store, seconds, inFlight }, processes, onBegun)
  await catraca.close()
  const sum = (of: (tally: Tally) => number) => tallies.reduce((total, tally) => total + of(tally), 0)
  const admitted = sum((tally) => tally.admitted)
  const tookMs =
    Math.max(...tallies.map(({ lastAt }) => lastAt)) - Math.min(...tallies.map(({ firstAt }) => firstAt))
  const most = capacity + (tookMs * perSecond) / 1000
  demand(admitted <= most + slack, `${admitted} were admitted, and the rule allows ${most} in ${tookMs} ms`)
  demand(admitted >= most * leastShare, `${admitted} were admitted of the ${most} that the rule allows`)
  return {
    admitted,
    'share of the rule': admitted / most,
    'admitted beyond the rule': Math.max(0, admitted - most),
    'asked/s': (admitted + sum((tally) => tally.denied)) / seconds,
    'denied in memory': sum((tally) => tally.deniedHere),
    'refused without an answer': sum((tally) => tally.failed),
  }
}

async function hammer(plan: LimitPlan, processes: number, onBegun: () => void): Promise<Tally[]> {
  const children = Array.from({ length: processes }, () =>
    fork(PROCESS, [JSON.stringify(plan)], { execArgv: [] }),
  )
  for (const child of children) void heard<Told, 'begun'>(child, 'begun').then(onBegun, () => {})
  return Promise.all(children.map((child) => heard<Told, 'done'>(child, 'done'))).finally(() => {
    for (const child of children) child.kill('SIGKILL')
  })
}

const named = (name: string, figures: Figures): Figures =>
  Object.fromEntries(Object.entries(figures).map(([what, value]) => [`${name}: ${what}`, value]))

await whenStarted(import.meta.url, 'limits', SIZES, async (sizes) => ({
  ...named('embedded', await run(sizes)),
  ...named('redis', await runOnRedis(sizes)),
  ...named('redis, failover', await runFailover(sizes)),
  ...named('dynamodb', await runOnDynamodb(sizes)),
}))
