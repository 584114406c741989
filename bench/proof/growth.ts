/**
 * How cost grows: per check, memory, import and load time with the members of a list (embedded, Redis and the DynamoDB
 * emulator), processor time per check and acquire with processes on one Redis, and what following lists costs a pod
 * at rest. Every check that is counted was also right and answered by an image in memory, with a confirmation in the store where the
 * filter said maybe (on DynamoDB, without a relay, by the table); every acquire was admitted by the store. Writes plots to docs/images/. Sizes are powers of ten from
 * `smallest` up to the given ones; 0 leaves a part out. A long run can be made in parts: with --resume 1, points of the last
 * run that this one does not measure are kept.
 * Arguments: --smallest 100000 --embedded 100000000 --redis 10000000 --dynamodb 100000 --processes 8 --lists 1000
 * --calls 200000 --restMs 5000 --resume 0
 */
import { fork } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { openCatraca } from '../../src/app/open-catraca.js'
import { createTables } from '../../src/engines/dynamodb/tables/create-tables.js'
import { TABLE_ROLES } from '../../src/engines/dynamodb/tables/tables.js'
import { CREDENTIALS_ENV, startDynamo } from '../../test/support/dynamodb-server.js'
import { startSingle } from '../../test/support/redis/index.js'
import type { GrowthPlan, GrowthTold } from '../support/growth-side.js'
import { type Line, plot } from '../support/plot.js'
import { demand, type Figures, heard, inTemporaryDirectory, whenStarted } from '../support/proof.js'

const SIDE = fileURLToPath(new URL('../support/growth-side.js', import.meta.url))
const SIZES = {
  smallest: 100_000,
  embedded: 100_000_000,
  redis: 10_000_000,
  dynamodb: 100_000,
  processes: 8,
  lists: 1000,
  calls: 200_000,
  restMs: 5000,
  resume: 0,
}
const RESULT = new URL('../../../bench/results/proof-growth.json', import.meta.url)
type Sizes = typeof SIZES
type Engine = 'embedded' | 'redis' | 'dynamodb'
type Point = [x: number, y: number]

const LINES_PER_CHUNK = 5000
const LISTS_AT_ONCE = 4
/** The emulator answers some hundreds of calls a second. */
const DYNAMODB_CALLS = 2000

/** All measured points, by the name of the curve. */
class Curves {
  readonly all: Record<string, Point[]> = {}

  add(name: string, x: number, y: number): void {
    const points = (this.all[name] ??= [])
    points.push([x, y])
  }

  /** Adds the points of another run that this one does not have. */
  fill(figures: Figures): void {
    for (const [row, y] of Object.entries(figures)) {
      const [, name, x] = /^(.*), (\d+)$/.exec(row)!
      if (this.all[name!]?.some(([own]) => own === Number(x)) !== true) this.add(name!, Number(x), y)
    }
    for (const points of Object.values(this.all)) points.sort(([a], [b]) => a - b)
  }

  figures(): Figures {
    const rows = Object.entries(this.all).flatMap(([name, points]) =>
      points.map(([x, y]): [string, number] => [`${name}, ${x}`, y]),
    )
    return Object.fromEntries(rows)
  }

  lines(ending: string): Line[] {
    return Object.entries(this.all)
      .filter(([name]) => name.endsWith(ending))
      .map(([name, points]) => ({ name: name.split(':')[0]!, points }))
  }
}

export async function run(given: Partial<Sizes>): Promise<Curves> {
  const sizes = { ...SIZES, ...given }
  const curves = new Curves()
  for (const members of steps(sizes.smallest, sizes.embedded, 10)) {
    await inTemporaryDirectory((directory) =>
      measureSize('embedded', `embedded:${directory}`, members, sizes.calls, curves),
    )
  }
  for (const members of steps(sizes.smallest, sizes.redis, 10)) {
    await onRedis((store) => measureSize('redis', store, members, sizes.calls, curves))
  }
  for (const members of steps(Math.min(sizes.smallest, sizes.dynamodb), sizes.dynamodb, 10)) {
    await onDynamodb((store) =>
      measureSize('dynamodb', store, members, Math.min(sizes.calls, DYNAMODB_CALLS), curves),
    )
  }
  if (sizes.processes > 0) await onRedis((store) => measureProcesses(store, sizes, curves))
  if (sizes.lists > 0) await onRedis((store) => measureFollowing(store, sizes, curves))
  return curves
}

function steps(from: number, to: number, factor: number): number[] {
  const found: number[] = []
  for (let step = from; step > 0 && step <= to; step *= factor) found.push(step)
  return found
}

async function measureSize(
  engine: Engine,
  store: string,
  members: number,
  calls: number,
  curves: Curves,
): Promise<void> {
  const { importMs, buildMs } = await prepare(store, 1, members)
  const told = await side({ store, work: 'check', amount: calls, members, lists: 1 })
  curves.add(`${engine}: import ms`, members, importMs)
  curves.add(`${engine}: build ms`, members, buildMs)
  curves.add(`${engine}: load ms`, members, told.loadMs)
  curves.add(`${engine}: processor µs per check`, members, told.micros)
  curves.add(`${engine}: bytes of the pod`, members, told.bytes)
}

async function measureProcesses(store: string, sizes: Sizes, curves: Curves): Promise<void> {
  await prepare(store, 1, sizes.smallest)
  for (const processes of steps(1, sizes.processes, 2)) {
    for (const work of ['check', 'acquire'] as const) {
      const amount = Math.ceil(sizes.calls / processes)
      const plan = { store, work, amount, members: sizes.smallest, lists: 1 }
      const told = await Promise.all(Array.from({ length: processes }, () => side(plan)))
      const micros = told.reduce((sum, one) => sum + one.micros, 0) / processes
      curves.add(`${work}: processor µs with processes`, processes, micros)
    }
  }
}

async function measureFollowing(store: string, sizes: Sizes, curves: Curves): Promise<void> {
  await prepare(store, sizes.lists, 10)
  for (const lists of steps(1, sizes.lists, 10)) {
    const told = await side({ store, work: 'follow', amount: sizes.restMs, members: 10, lists })
    curves.add('following: processor µs per second of rest', lists, told.micros)
    curves.add('following: pod bytes', lists, told.bytes)
  }
}

/** Lists `list-0` and so on, with the same members; returns how long imports and builds of filters took. */
async function prepare(store: string, lists: number, members: number) {
  const catraca = await openCatraca({ store })
  try {
    const limits = { rpm: { capacity: 1_000_000_000, refillPeriodSeconds: 1 } }
    await catraca.limits.setConfig({ level: 'system', resource: 'growth' }, { limits })
    let importMs = 0
    let buildMs = 0
    let next = 0
    const lane = async (): Promise<void> => {
      while (next < lists) {
        const id = `list-${next++}`
        await catraca.allowlists.create({ id, name: id, type: 'FIXA' })
        const begin = performance.now()
        const body = Readable.from(customerLines(members))
        const { added } = await catraca.allowlists.import(id, body, { format: 'text' })
        importMs += performance.now() - begin
        demand(added === members, `${added} of ${members} members were added`)
        const imported = performance.now()
        await catraca.allowlists.rebuild(id)
        buildMs += performance.now() - imported
      }
    }
    await Promise.all(Array.from({ length: LISTS_AT_ONCE }, lane))
    return { importMs, buildMs }
  } finally {
    await catraca.close()
  }
}

function* customerLines(members: number): Generator<Buffer> {
  for (let from = 0; from < members; from += LINES_PER_CHUNK) {
    const count = Math.min(LINES_PER_CHUNK, members - from)
    yield Buffer.from(Array.from({ length: count }, (_, i) => `customer-${from + i}\n`).join(''))
  }
}

async function side(plan: GrowthPlan): Promise<GrowthTold> {
  const child = fork(SIDE, [JSON.stringify(plan)], { execArgv: [] })
  try {
    return await heard<GrowthTold, 'done'>(child, 'done')
  } finally {
    child.kill('SIGKILL')
  }
}

async function onRedis(work: (store: string) => Promise<void>): Promise<void> {
  const servers = await startSingle()
  try {
    await work(servers.storeUrl)
  } finally {
    await servers.stop()
  }
}

async function onDynamodb(work: (store: string) => Promise<void>): Promise<void> {
  const server = await startDynamo()
  const names = server.names()
  Object.assign(process.env, CREDENTIALS_ENV)
  try {
    await createTables(server.client().sdk, names, TABLE_ROLES)
    await work(server.url(names))
  } finally {
    await server.stop()
  }
}

function plotAll(curves: Curves): void {
  const members = 'members of the list'
  plot('growth-check', 'Processor time per check', { x: members, y: 'µs' }, curves.lines('per check'))
  plot(
    'growth-memory',
    'Memory that a pod adds',
    { x: members, y: 'bytes' },
    curves.lines('bytes of the pod'),
  )
  plot('growth-import', 'Time of an import', { x: members, y: 'ms' }, curves.lines('import ms'))
  plot('growth-build', 'Time to build the filters', { x: members, y: 'ms' }, curves.lines('build ms'))
  plot('growth-load', 'Time until a pod is ready', { x: members, y: 'ms' }, curves.lines('load ms'))
  const processes = { x: 'processes on one Redis', y: 'µs' }
  plot('growth-processes', 'Processor time per call', processes, curves.lines('with processes'))
  const lists = { x: 'lists that a pod follows', y: 'µs' }
  plot('growth-following', 'Processor time per second at rest', lists, curves.lines('of rest'))
}

await whenStarted(import.meta.url, 'growth', SIZES, async (sizes) => {
  const curves = await run(sizes)
  if (sizes.resume === 1) curves.fill(JSON.parse(readFileSync(RESULT, 'utf8')).figures)
  plotAll(curves)
  return curves.figures()
})
