import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Catraca, type OpenOptions, openCatraca } from '../../src/app/open-catraca.js'
import { NOW, newFixa, sweepAll } from '../../src/conformance/support.js'
import { ManualClock, systemClock } from '../../src/core/clock.js'
import { CapacityCounts } from '../../src/engines/dynamodb/client/capacity.js'
import { type DynamodbEngine, openDynamodb } from '../../src/engines/dynamodb/index.js'
import { TABLE_ROLES } from '../../src/engines/dynamodb/tables/tables.js'
import type { DynamodbUrl } from '../../src/engines/dynamodb/url.js'
import { parseStoreUrl } from '../../src/engines/registry.js'
import type { ImportLimits } from '../../src/guards/allowlist/import/limits.js'
import { runImport } from '../../src/guards/allowlist/import/pipeline.js'
import { buildIndex } from '../../src/guards/allowlist/membership/build.js'
import type { ImportMode } from '../../src/guards/allowlist/types.js'
import { openFeed } from '../../test/support/dynamodb-feed.js'
import { CREDENTIALS, type DynamoServer, PATIENCE } from '../../test/support/dynamodb-server.js'
import { limitUnits } from './dynamodb-limit-units.js'
import { lines } from './proof.js'

export interface Units {
  read: number
  write: number
}

/** By the name of the operation, as `docs/cost.md` has it. */
export type CountedUnits = Record<string, Units>

const DAY_MS = 86_400_000
const OPTIONS = { ...PATIENCE, credentials: CREDENTIALS, checkTables: false }
/** Nothing in the background: what is counted is what the operation itself uses. */
const ALONE: OpenOptions = {
  sweepIntervalMs: 0,
  membership: { compareIntervalMs: DAY_MS / 24, staleAfterMs: DAY_MS / 24 },
}

/** A list that is not in memory is looked for in the background. */
const CHECK_VERBS = ['allowlist.check', 'allowlist.meta']

const uuid = (i: number): string => `00000000-0000-4000-8000-${i.toString(16).padStart(12, '0')}`
const uuids = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, i) => uuid(from + i))

/** Units that work used; of these verbs only, where others go on at the same time. */
export async function unitsOf(
  capacity: CapacityCounts,
  work: () => Promise<unknown>,
  verbs?: readonly string[],
): Promise<Units> {
  capacity.reset()
  await work()
  const sum = { read: 0, write: 0 }
  for (const { verb, readUnits, writeUnits } of capacity.rows()) {
    if (verbs?.includes(verb) === false) continue
    sum.read += readUnits
    sum.write += writeUnits
  }
  return sum
}

export const each = ({ read, write }: Units, count: number): Units => ({
  read: read / count,
  write: write / count,
})
const more = (one: Units, two: Units): Units => ({ read: two.read - one.read, write: two.write - one.write })

/** Every operation of the cost table, done on tables of its own, with the units that DynamoDB said it used. */
export async function countUnits(server: DynamoServer): Promise<CountedUnits> {
  // Without streams, which only the feed needs: with them the emulator slows down with every item.
  const url = server.url(await server.emptyTables(TABLE_ROLES))
  const engine = await openDynamodb(parseStoreUrl(url) as DynamodbUrl, { ...OPTIONS, probeIntervalMs: 0 })
  try {
    return {
      ...(await checks(url)),
      ...(await memberWrites(engine)),
      ...(await bulkWrites(engine)),
      ...(await feed(server)),
      ...(await limitUnits(engine)),
      ...(await looks(engine)),
    }
  } finally {
    await engine.close()
  }
}

async function checks(store: string): Promise<CountedUnits> {
  const counter = new CapacityCounts()
  const settings = { revalidateAfterMs: DAY_MS, staleAfterMs: DAY_MS, probeIntervalMs: 0 }
  const catraca = await openCatraca({
    ...ALONE,
    store,
    dynamodb: { ...OPTIONS, counter, ...settings },
  })
  try {
    const asks = (customer: string, list: string, options = {}) =>
      unitsOf(counter, () => catraca.allowlists.check(customer, [list], options), CHECK_VERBS)
    await prepareLists(catraca)
    const { token } = await catraca.allowlists.add('cold', uuid(1))
    await asks(uuid(1), 'cold')
    return {
      'check of a stranger, list in memory': await asks(uuid(999), 'exact'),
      'check of a member, list in memory': await asks(uuid(1), 'exact'),
      'the same again within a minute': await asks(uuid(1), 'exact'),
      'check of a member, `trusted` list in memory': await asks(uuid(1), 'trusted'),
      'check, list not in memory': await asks(uuid(999), 'cold'),
      'check of a wave': await asks(uuid(1), 'wave'),
      'check with `atLeast`, not yet followed': await asks(uuid(1), 'cold', { atLeast: token }),
      'check with `consistency=strong`': await asks(uuid(1), 'exact', { consistency: 'strong' }),
    }
  } finally {
    await catraca.close()
  }
}

/** Two lists in memory, one that is not, and a wave; all of them known. */
async function prepareLists({ allowlists }: Catraca): Promise<void> {
  for (const precision of ['exact', 'trusted'] as const) {
    await allowlists.create({ id: precision, name: precision, type: 'FIXA', precision })
    await allowlists.import(precision, lines(uuids(0, 50)), { format: 'text' })
    await allowlists.rebuild(precision)
    await allowlists.check('nobody', [precision])
  }
  await allowlists.create({ id: 'cold', name: 'cold', type: 'FIXA' })
  const config = { strategy: 'PERCENTAGE', percentage: 0.5 } as const
  await allowlists.create({ id: 'wave', name: 'wave', type: 'ONDA', config })
  await allowlists.check('nobody', ['wave'])
}

/** What a process does again and again in order to hear of changes, each time; nothing has changed. */
async function looks({ keys, tokens, limits, capacity, health }: DynamodbEngine): Promise<CountedUnits> {
  // The names of limits that were used before may still be written in the background.
  const asks = (verbs: readonly string[], work: () => Promise<unknown>): Promise<Units> =>
    unitsOf(capacity, work, verbs)
  return {
    'look at the API keys': await asks(['keys'], () => keys.list()),
    'look for revoked tokens': await asks(['tokens'], () => tokens.read({ sequence: 0, mark: 0 })),
    'look for changes of limits and their configuration': await asks(['limit.watch'], () =>
      limits.counters.take([], NOW),
    ),
    'look for `/health`, and for a scrape of `/metrics`': await asks(['health'], () => health()),
  }
}

async function memberWrites({ allowlists, capacity }: DynamodbEngine): Promise<CountedUnits> {
  const { members, lists } = allowlists
  await newFixa(allowlists, 'written')
  await lists.get('written')
  const add = (id: string, attributes = {}) => members.add('written', id, attributes, NOW)
  await add(uuid(0))
  const together = uuids(100, 148)
  const expiresAt = NOW + 30 * DAY_MS
  return {
    'add of a customer': await unitsOf(capacity, () => add(uuid(1))),
    'add of one who is there': await unitsOf(capacity, () => add(uuid(1), { addedBy: 'x' })),
    'add with `expiresAt`': await unitsOf(capacity, () => add(uuid(2), { expiresAt })),
    'removal of a customer': await unitsOf(capacity, () => members.remove('written', uuid(1), NOW)),
    '48 adds at once, each': each(
      await unitsOf(capacity, () => Promise.all(together.map((id) => add(id)))),
      together.length,
    ),
  }
}

const ROWS = 500

async function bulkWrites(engine: DynamodbEngine): Promise<CountedUnits> {
  const { allowlists, capacity } = engine
  let imports = 0
  const store = (ids: string[], mode: ImportMode, limits: Partial<ImportLimits> = {}) =>
    unitsOf(capacity, async () => {
      await runImport({
        bulk: allowlists.bulk,
        members: allowlists.members,
        listId: 'bulk',
        body: lines(ids),
        options: { mode, importId: `import-${imports++}`, format: 'text' },
        clock: new ManualClock(NOW),
        spillDir: join(tmpdir(), `catraca-units-${process.pid}`),
        leaseMs: DAY_MS,
        limits,
      })
      // What a replace leaves for later is part of its price.
      if (mode === 'replace') await sweepAll(allowlists, NOW + DAY_MS)
    })
  const build = () =>
    unitsOf(capacity, async () => {
      const { index, changes, lists } = allowlists
      const list = (await lists.get('bulk'))!
      await buildIndex({ index, changes, list, full: true, threads: 1, leaseMs: DAY_MS, clock: systemClock })
    })
  await newFixa(allowlists, 'bulk')
  const small = await store(uuids(0, 25), 'add')
  const smallSame = await store(uuids(0, 25), 'replace')
  const smallBuild = await build()
  const one = await store(uuids(1000, 1000 + ROWS), 'add')
  const five = await store(uuids(2000, 2000 + ROWS), 'add', { batchCustomers: ROWS / 5 })
  const held = [...uuids(0, 25), ...uuids(1000, 1000 + ROWS), ...uuids(2000, 2000 + ROWS)]
  const largeBuild = await build()
  const same = await store(held, 'replace')
  const grown = await store([...held, ...uuids(3000, 3000 + ROWS)], 'replace')
  const shrunk = await store(held, 'replace')
  const row = each(more(small, one), ROWS - 25)
  return {
    'import, each row': row,
    'import, each batch (10,000 rows)': each(more(one, five), 4),
    'import, besides': more({ read: row.read * 25, write: row.write * 25 }, small),
    'replace, each customer added': each(more(same, grown), ROWS),
    'replace, each customer removed': each(more(same, shrunk), ROWS),
    'replace, each customer who stays': each(more(smallSame, same), 2 * ROWS),
    'whole build of an index, each customer': each(more(smallBuild, largeBuild), 2 * ROWS),
  }
}

const TOLD_AT_ONCE = 500

/** What the sequencer uses, and a pod that follows. */
async function feed(server: DynamoServer): Promise<CountedUnits> {
  const scene = await openFeed(server)
  const { core, store, log } = scene
  const allowlists = core as unknown as DynamodbEngine['allowlists']
  try {
    const list = await newFixa(allowlists, 'followed')
    await scene.drain()
    const told = async (ids: string[]): Promise<Units> => {
      await Promise.all(ids.map((id) => core.members.add('followed', id, {}, NOW)))
      const records = await scene.records()
      return unitsOf(store.capacity, () => scene.sequencer.process(records))
    }
    await told([uuid(0)])
    const single = await told([uuid(1)])
    const many = await told(uuids(1000, 1000 + TOLD_AT_ONCE))
    const position = (await log.position(list))!
    const look = await unitsOf(store.capacity, async () => log.read(list, position))
    return {
      'log entry for a single change': single,
      'log entries for 500 changes at once, each': each(many, TOLD_AT_ONCE),
      'look at the log of a shard, nothing new': look,
    }
  } finally {
    scene.close()
  }
}
