/**
 * Processes that work on one resource under one lock are stopped in the middle of their work for longer than the lock
 * lives, and killed. No two holders may have the same fence, and nobody who can still know itself to be the holder may
 * be older than one at work. Those who were stopped and write too late are refused by a resource that checks fences;
 * they are counted, because a resource that does not check would have let every one of them through.
 * Arguments: [store URL] --seconds 30 --processes 8 --ttlMs 500 --busyMs 20
 */
import { type ChildProcess, fork } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createTables } from '../../src/engines/dynamodb/tables/create-tables.js'
import { TABLE_ROLES } from '../../src/engines/dynamodb/tables/tables.js'
import { CREDENTIALS_ENV, startDynamo } from '../../test/support/dynamodb-server.js'
import { startSingle } from '../../test/support/redis/index.js'
import type { LockPlan, LockSaid, LockWrite } from '../support/lock-process.js'
import { demand, type Failed, type Figures, inTemporaryDirectory, whenStarted } from '../support/proof.js'

const PROCESS = fileURLToPath(new URL('../support/lock-process.js', import.meta.url))
const SIZES = { seconds: 30, processes: 8, ttlMs: 500, busyMs: 20 }
type Sizes = typeof SIZES

/** Of the pieces of work that begin so many are met by a stop, and of those so many by a kill instead. */
const STOP_SHARE = 0.08
const KILL_SHARE = 0.25
const LEAST_HOLDERS = 5
const PATIENCE_MS = 60_000

interface Write extends LockWrite {
  /** Process and number of the holder. */
  by: string
}

/** What is locked, after the fact: all writes in the order in which they were made. */
function judge(writes: Write[]) {
  writes.sort((a, b) => a.atMs - b.atMs)
  const holders = new Map<number, string>()
  let newest = 0
  let refused = 0
  for (const { fence, by, isHeld } of writes) {
    const known = holders.get(fence)
    demand(known === undefined || known === by, `${fence} is the fence of ${known} and of ${by}`)
    holders.set(fence, by)
    if (fence >= newest) newest = fence
    else {
      // The check of the resource: an older holder is refused. Nobody who is still the holder may be.
      demand(!isHeld, `${by} held the lock by ${fence}, and ${newest} was at work already`)
      refused++
    }
  }
  return { holders: holders.size, writes: writes.length - refused, refused }
}

class Chaos {
  readonly writes: Write[] = []
  stops = 0
  kills = 0
  unanswered = 0
  failure: Error | undefined
  private readonly children = new Set<ChildProcess>()
  private isOver = false
  private begin: () => void = () => {}
  /** Somebody works, or has failed. */
  readonly begun = new Promise<void>((resolve) => {
    this.begin = resolve
  })

  constructor(
    private readonly plan: LockPlan,
    private readonly env: Record<string, string>,
  ) {}

  start(): void {
    const child = fork(PROCESS, [JSON.stringify(this.plan)], {
      execArgv: [],
      env: { ...process.env, ...this.env },
    })
    this.children.add(child)
    child.on('message', (message: LockSaid | Failed) => this.hear(child, message))
    child.once('exit', () => {
      this.children.delete(child)
      if (!this.isOver) this.start()
    })
  }

  /** On a busy machine processes start late. */
  async untilSeveralHeld(): Promise<void> {
    const isShown = (): boolean => new Set(this.writes.map(({ fence }) => fence)).size >= LEAST_HOLDERS
    for (const endsAt = Date.now() + PATIENCE_MS; !isShown() && Date.now() < endsAt; ) await sleep(50)
  }

  async end(): Promise<void> {
    this.isOver = true
    const gone = [...this.children].map((child) => new Promise((resolve) => child.once('exit', resolve)))
    for (const child of this.children) child.kill('SIGKILL')
    await Promise.all(gone)
    if (this.failure !== undefined) throw this.failure
  }

  private hear(child: ChildProcess, message: LockSaid | Failed): void {
    if (this.isOver) return
    this.begin()
    if (message.type === 'failed') this.failure ??= new Error(message.message)
    else if (message.type === 'refused') this.unanswered += Number(message.code !== 'LOCK_HELD')
    else if (message.type === 'working') this.disturb(child)
    else this.writes.push({ ...message, by: `${child.pid}/${message.holder}` })
  }

  private disturb(child: ChildProcess): void {
    if (Math.random() >= STOP_SHARE) return
    if (Math.random() < KILL_SHARE) {
      this.kills++
      child.kill('SIGKILL')
      return
    }
    this.stops++
    child.kill('SIGSTOP')
    setTimeout(() => child.kill('SIGCONT'), this.plan.ttlMs * (1.2 + 1.5 * Math.random())).unref()
  }
}

/** `env`: what processes need to reach the store. */
export async function runOn(
  store: string,
  given: Partial<Sizes>,
  env: Record<string, string> = {},
): Promise<Figures> {
  const { seconds, processes, ttlMs, busyMs } = { ...SIZES, ...given }
  const chaos = new Chaos({ store, name: 'claim:contested', ttlMs, busyMs }, env)
  for (let i = 0; i < processes; i++) chaos.start()
  await chaos.begun
  await sleep(seconds * 1000)
  await chaos.untilSeveralHeld()
  await chaos.end()
  const { stops, kills, unanswered } = chaos
  const { holders, writes, refused } = judge(chaos.writes)
  return {
    holders,
    'writes let through': writes,
    'writes of an older holder, refused by their fence': refused,
    'processes stopped': stops,
    'processes killed': kills,
    'locks lost or not answered': unanswered,
  }
}

export function runEmbedded(given: Partial<Sizes>): Promise<Figures> {
  return inTemporaryDirectory((directory) => runOn(`embedded:${directory}`, given))
}

export async function runRedis(given: Partial<Sizes>): Promise<Figures> {
  const servers = await startSingle()
  try {
    return await runOn(servers.storeUrl, given)
  } finally {
    await servers.stop()
  }
}

export async function runDynamodb(given: Partial<Sizes>): Promise<Figures> {
  const server = await startDynamo()
  try {
    const names = server.names()
    await createTables(server.client().sdk, names, TABLE_ROLES)
    return await runOn(server.url(names), given, CREDENTIALS_ENV)
  } finally {
    await server.stop()
  }
}

function proven(name: string, figures: Figures): Figures {
  const refused = figures['writes of an older holder, refused by their fence']!
  demand(refused > 0, `${name}: nobody came late, so nothing was shown`)
  return Object.fromEntries(Object.entries(figures).map(([what, value]) => [`${name}: ${what}`, value]))
}

const store = process.argv.slice(2).find((argument) => /^[a-z+]+:/.test(argument))
await whenStarted(import.meta.url, 'locks', SIZES, async (sizes) => {
  if (store !== undefined) return proven('store', await runOn(store, sizes))
  return {
    ...proven('embedded', await runEmbedded(sizes)),
    ...proven('redis', await runRedis(sizes)),
    ...proven('dynamodb', await runDynamodb(sizes)),
  }
})
