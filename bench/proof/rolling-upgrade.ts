/**
 * A process of version 0.1.0 and one of this version work on one Redis, then on one set of DynamoDB tables, with every
 * guard, as they do while an upgrade is rolled out. What one does the other sees; limits admit together what they may,
 * requests are done once, locks never overlap, and fences grow. On Redis, version 0.1.0 finds the lists of customers that
 * this version has added, and builds its index of them again when it is told to.
 * Arguments: --seconds 10
 */
import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { type Catraca, type OpenOptions, openCatraca } from '../../src/app/open-catraca.js'
import { startRelay } from '../../src/app/relay.js'
import { makeTables } from '../../test/support/dynamodb-engine.js'
import { CREDENTIALS, CREDENTIALS_ENV, startDynamo } from '../../test/support/dynamodb-server.js'
import { type RedisProcess, startSingle, until } from '../../test/support/redis/index.js'
import { buildOlderVersion } from '../support/older-version.js'
import {
  demand,
  type Figures,
  heard,
  inTemporaryDirectory,
  lines,
  pagedMembers,
  whenStarted,
} from '../support/proof.js'
import {
  type Deed,
  LIMITS,
  LIST,
  RESOURCE,
  type SideAsked,
  type SideSaid,
} from '../support/rolling-upgrade-plan.js'

const VERSION_0_1_0 = '688b8b2e363ce9ddbda16d583859dfd96fc10425'
const SIDE = fileURLToPath(new URL('../support/rolling-upgrade-side.js', import.meta.url))
const PRESENT = new URL('../../src/index.js', import.meta.url).href
const SIZES = { seconds: 10 }
/** Of the customers that this version adds, how many are looked for in the index of the older one. */
const INDEXED = 100
/** So many that followers are not told who they are. */
const REPLACED = 15_000

class Side {
  readonly deeds: Deed[] = []
  private readonly child: ChildProcess
  other: Side | undefined

  constructor(readonly name: string) {
    this.child = fork(SIDE, { execArgv: [], env: { ...process.env, ...CREDENTIALS_ENV } })
    this.child.on('message', (message: SideSaid) => {
      if (message.type !== 'deed') return
      this.deeds.push(message.deed)
      this.other?.send({ type: 'deed', deed: message.deed })
    })
  }

  send(message: SideAsked): void {
    this.child.send(message)
  }

  async open(entry: string, options: OpenOptions): Promise<void> {
    const opened = heard<SideSaid, 'opened'>(this.child, 'opened')
    this.send({ type: 'open', side: this.name, entry, options })
    await opened
  }

  async work(ms: number): Promise<void> {
    const worked = heard<SideSaid, 'worked'>(this.child, 'worked')
    this.send({ type: 'work', ms })
    await worked
  }

  /** Waits until it has looked at all that the other one did. */
  async end(): Promise<void> {
    const closed = heard<SideSaid, 'closed'>(this.child, 'closed')
    this.send({ type: 'end' })
    await closed
  }

  kill(): void {
    this.child.kill('SIGKILL')
  }
}

/** Both versions on one store, and what must hold of what they did. */
async function together(
  older: string,
  options: OpenOptions,
  seconds: number,
  redis?: RedisProcess,
): Promise<Figures> {
  const judge = await openCatraca(options)
  const sides = [new Side('old'), new Side('new')] as const
  try {
    await judge.allowlists.create({ id: LIST, name: 'VIP', type: 'FIXA' })
    await judge.limits.setConfig({ level: 'system', resource: RESOURCE }, { limits: LIMITS })
    const [old, present] = sides
    old.other = present
    present.other = old
    await Promise.all([old.open(older, options), present.open(PRESENT, options)])
    await Promise.all(sides.map((side) => side.work(seconds * 1000)))
    await Promise.all(sides.map((side) => side.end()))
    const deeds = sides.flatMap((side) => side.deeds)
    for (const side of sides)
      for (const kind of KINDS)
        demand(
          side.deeds.some((one) => one.kind === kind),
          `${side.name} did nothing of ${kind}`,
        )
    await judgeMembers(judge, deeds)
    if (redis !== undefined) await judgeOlderIndex(older, options, deeds, redis, judge)
    await judgeLimits(judge, deeds)
    judgeRequests(deeds)
    judgeLocks(deeds)
    return Object.fromEntries(KINDS.map((kind) => [kind, deeds.filter((one) => one.kind === kind).length]))
  } finally {
    for (const side of sides) side.kill()
    await judge.close()
  }
}

const KINDS = ['added', 'removed', 'acquired', 'answered', 'held', 'code', 'revoked', 'cached'] as const
const of = <Kind extends Deed['kind']>(deeds: readonly Deed[], kind: Kind) =>
  deeds.filter((deed): deed is Extract<Deed, { kind: Kind }> => deed.kind === kind)

async function judgeMembers({ allowlists }: Catraca, deeds: readonly Deed[]): Promise<void> {
  const removed = new Set(of(deeds, 'removed').map(({ id }) => id))
  const expected = of(deeds, 'added')
    .map(({ id }) => id)
    .filter((id) => !removed.has(id))
  const found = new Set(await pagedMembers(allowlists, LIST))
  for (const id of expected) demand(found.has(id), `${id} was added, and is gone`)
  demand(found.size === expected.length, `${found.size} members, not ${expected.length}`)
  const { customerCount } = await allowlists.get(LIST)
  demand(customerCount === expected.length, `counts ${customerCount}, not ${expected.length}`)
}

/** The index of version 0.1.0 follows what this version changes and replaces, and can be built again from nothing. */
async function judgeOlderIndex(
  older: string,
  options: OpenOptions,
  deeds: readonly Deed[],
  redis: RedisProcess,
  present: Catraca,
): Promise<void> {
  const { openCatraca: openOlder } = (await import(older)) as { openCatraca: typeof openCatraca }
  const catraca = await openOlder(options)
  const { allowlists } = catraca
  const isFound = async (id: string) => (await allowlists.listsOf(id)).items.length === 1
  try {
    const added = of(deeds, 'added').filter(({ id, stays }) => stays && id.startsWith('new-'))
    const ids = added.slice(-INDEXED).map(({ id }) => id)
    await until('version 0.1.0 finds the lists of all customers', async () =>
      (await Promise.all(ids.map(isFound))).every(Boolean),
    )
    const [one] = ids as [string]
    await redis.say('DEL', `customer-allowlists:${one}`)
    demand(!(await isFound(one)), 'version 0.1.0 does not use its index')
    await redis.say('ZADD', `{allowlist:${LIST}}:unindexed`, '0', '0')
    await until('its index is built again', () => isFound(one))
    const others = Array.from({ length: REPLACED }, (_, i) => `other-${i}`)
    await present.allowlists.import(LIST, lines(others), { format: 'text', mode: 'replace' })
    const some = others.filter((_, i) => i % 100 === 0)
    await until('version 0.1.0 finds the lists of whom a replace has brought', async () =>
      (await Promise.all(some.map(isFound))).every(Boolean),
    )
    demand(!(await isFound(one)), 'version 0.1.0 finds who is gone')
  } finally {
    await catraca.close()
  }
}

async function judgeLimits({ limits }: Catraca, deeds: readonly Deed[]): Promise<void> {
  for (const [limit, { capacity }] of Object.entries(LIMITS)) {
    const admitted = of(deeds, 'acquired').filter((one) => one.limit === limit).length
    const returned = of(deeds, 'given-back').filter((one) => one.limit === limit).length
    demand(
      admitted - returned <= capacity,
      `${limit}: ${admitted} admitted, ${returned} given back, of ${capacity}`,
    )
    const { remaining } = (await limits.status(`of-${limit}`, RESOURCE)).limits[limit]!
    const left = capacity - (admitted - returned)
    demand(remaining === left, `${limit}: ${remaining} remain, not ${left}`)
  }
}

function judgeRequests(deeds: readonly Deed[]): void {
  const executed = of(deeds, 'executed').map(({ key }) => key)
  demand(new Set(executed).size === executed.length, 'a request was done twice')
  const values = new Map<string, string>()
  for (const { key, value } of of(deeds, 'answered')) {
    demand((values.get(key) ?? value) === value, `${key} was answered in two ways`)
    values.set(key, value)
  }
}

function judgeLocks(deeds: readonly Deed[]): void {
  const held = of(deeds, 'held').sort((a, b) => a.fence - b.fence)
  held.forEach(({ fence, fromNs }, i) => {
    const before = held[i - 1]
    if (before === undefined) return
    demand(fence > before.fence, `the fence ${fence} was given twice`)
    demand(BigInt(fromNs) >= BigInt(before.untilNs), `two held the lock at once, at fence ${fence}`)
  })
}

export async function rollingUpgrade({ seconds }: typeof SIZES): Promise<Figures> {
  return inTemporaryDirectory(async (directory) => {
    const older = buildOlderVersion(VERSION_0_1_0, directory)
    const codes = { pepper: 'one for both versions' }
    const redis = await startSingle()
    const onRedis = await together(
      older,
      { store: redis.storeUrl, codes },
      seconds,
      redis.servers[0],
    ).finally(() => redis.stop())
    Object.assign(process.env, CREDENTIALS_ENV)
    const server = await startDynamo()
    const { names } = await makeTables(server)
    const store = server.url(names)
    const relay = await startRelay({ store, pollMs: 50 })
    const onDynamodb = await together(
      older,
      { store, codes, dynamodb: { credentials: CREDENTIALS } },
      seconds,
    )
      .finally(() => relay.stop())
      .finally(() => server.stop())
    const named = (engine: string, figures: Figures) =>
      Object.entries(figures).map(([kind, count]) => [`${engine}.${kind}`, count] as const)
    return Object.fromEntries([...named('redis', onRedis), ...named('dynamodb', onDynamodb)])
  })
}

await whenStarted(import.meta.url, 'rolling-upgrade', SIZES, rollingUpgrade)
