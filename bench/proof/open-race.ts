/**
 * Two processes write members, limits, locks and idempotency without a pause. Beside them others open the same directory
 * and close it: to write, to read, as commands, as restarted workers of a server; some are killed and some are stopped in
 * the middle. Nothing that was acknowledged may be missing, no counter may go back, no fence may fall, and nobody may
 * fail. On the disk and on a memory file system, with both durabilities.
 * Arguments: --opens 2000 --stoppedMs 1000 --opensPerProcess 8 --servers 4 (settings in which a server restarts workers)
 *   --restartMs 700 (between two kills of workers) --pauseMs 0 (of each writer after each write) --writesEvery 4 (opens)
 */
import { type ChildProcess, execFile, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { openCatraca } from '../../src/app/open-catraca.js'
import type { OpenerPlan, OpenerSaid } from '../support/open-race-opener.js'
import {
  type Acknowledged,
  CAPACITY,
  LIST,
  memberOf,
  OPERATION,
  type OpenRacePlan,
  openOptions,
  RESOURCE,
  WINDOW_SECONDS,
  type WriterPlan,
} from '../support/open-race-plan.js'
import {
  demand,
  type Failed,
  type Figures,
  heard,
  pagedMembers,
  pick,
  whenStarted,
} from '../support/proof.js'

const program = (name: string): string => fileURLToPath(new URL(`../support/${name}.js`, import.meta.url))
const COMMAND = fileURLToPath(new URL('../../../bin/catraca.js', import.meta.url))
const WRITERS = ['writer-a', 'writer-b']
const OPENERS_AT_ONCE = 2
const MEMORY_FILE_SYSTEM = '/dev/shm'

const SIZES = {
  opens: 2000,
  stoppedMs: 1000,
  opensPerProcess: 8,
  servers: 4,
  restartMs: 700,
  pauseMs: 0,
  writesEvery: 4,
}
type Sizes = typeof SIZES

/** Kinds of openers, in the order in which they come, again and again. */
const KINDS = ['killed', 'library', 'stopped', 'reader', 'command', 'killed', 'library'] as const
const ENDLESS = 1000

interface Tally {
  opens: number
  /** Acknowledged to openers. */
  members: string[]
  openMs: number[]
  byKind: Record<string, number>
}

class Openers {
  readonly tally: Tally = { opens: 0, members: [], openMs: [], byKind: {} }

  private started = 0

  constructor(
    private readonly plan: OpenRacePlan,
    private readonly sizes: Sizes,
  ) {}

  async run(): Promise<void> {
    const lane = async (): Promise<void> => {
      while (this.tally.opens < this.sizes.opens) await this.one(KINDS[this.started++ % KINDS.length]!)
    }
    await Promise.all(Array.from({ length: OPENERS_AT_ONCE }, lane))
  }

  count(kind: string): void {
    this.tally.opens++
    this.tally.byKind[kind] = (this.tally.byKind[kind] ?? 0) + 1
  }

  private async one(kind: (typeof KINDS)[number]): Promise<void> {
    if (kind === 'command') {
      await promisify(execFile)(process.execPath, [
        COMMAND,
        ...['allowlist', 'get', LIST, '--json', '--store', `embedded:${this.plan.directory}`],
      ])
      this.count(kind)
      return
    }
    const times = { killed: ENDLESS, stopped: 3 }[kind as string] ?? this.sizes.opensPerProcess
    const { writesEvery } = this.sizes
    const order = {
      ...this.plan,
      ...{ times, writesEvery, kind: kind === 'reader' ? kind : 'library' },
    } satisfies OpenerPlan
    const child = fork(program('open-race-opener'), [JSON.stringify(order)], { execArgv: [] })
    const failures: string[] = []
    child.on('message', (message: OpenerSaid | Failed) => {
      if (message.type === 'failed') failures.push(message.message)
      if (message.type === 'opening') void this.disturb(kind, child)
      if (message.type === 'opened') {
        this.count(kind)
        this.tally.openMs.push(message.openMs)
        if (message.member !== undefined) this.tally.members.push(message.member)
      }
    })
    const [[code, signal]] = await Promise.all([once(child, 'exit'), once(child, 'disconnect')])
    demand(failures.length === 0, `an opener (${kind}) failed: ${failures}`)
    demand(
      code === 0 || (kind === 'killed' && signal === 'SIGKILL'),
      `an opener (${kind}) ended with ${code ?? signal}`,
    )
    // It was opening, or had opened, when it was killed.
    if (kind === 'killed') this.count(kind)
  }

  private async disturb(kind: string, child: ChildProcess): Promise<void> {
    if (kind !== 'killed' && kind !== 'stopped') return
    await sleep(Math.random() * 150)
    child.kill(kind === 'killed' ? 'SIGKILL' : 'SIGSTOP')
    if (kind === 'killed') return
    await sleep(this.sizes.stoppedMs)
    child.kill('SIGCONT')
  }
}

/** A server whose workers are killed and opened again by it, until the end. */
async function restartWorkers(
  plan: OpenRacePlan,
  openers: Openers,
  restartMs: number,
  isOver: () => boolean,
): Promise<void> {
  const args = [COMMAND, 'serve', '--port', '0', '--workers', '2', '--store', `embedded:${plan.directory}`]
  const server = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, CATRACA_EMBEDDED_DURABILITY: plan.durability },
  })
  try {
    await once(server.stdout, 'data')
    server.stdout.resume()
    while (!isOver()) {
      await sleep(restartMs)
      const workers = childrenOf(server.pid!)
      if (workers.length === 0) continue
      process.kill(pick(workers), 'SIGKILL')
      openers.count('worker')
    }
  } finally {
    server.kill('SIGTERM')
    await once(server, 'exit')
  }
}

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
}

async function runIn(parent: string, durability: OpenRacePlan['durability'], sizes: Sizes): Promise<Figures> {
  const directory = mkdtempSync(join(parent, 'catraca-open-race-'))
  const plan = { directory, durability }
  const writers = new Map<string, ChildProcess>()
  try {
    await prepare(plan)
    for (const writer of WRITERS) {
      const order = JSON.stringify({ ...plan, writer, pauseMs: sizes.pauseMs } satisfies WriterPlan)
      const child = fork(program('open-race-writer'), [order], { execArgv: [] })
      writers.set(writer, child)
      await heard(child, 'ready')
    }
    const ends = [...writers].map(async ([writer, child]) => {
      const { done } = await heard<{ type: 'done'; done: Acknowledged }, 'done'>(child, 'done')
      return { writer, done }
    })
    const failed = Promise.race(ends.map((end) => end.then(() => new Promise<never>(() => {}))))
    const openers = new Openers(plan, sizes)
    let isOver = false
    const restarts =
      sizes.servers > 0
        ? restartWorkers(plan, openers, sizes.restartMs, () => isOver)
        : new Promise<void>(() => {})
    try {
      await Promise.race([openers.run(), failed, restarts])
    } finally {
      isOver = true
      if (sizes.servers > 0) await restarts
    }
    for (const child of writers.values()) child.send('end')
    return await reckon(plan, await Promise.all(ends), openers.tally)
  } finally {
    for (const child of writers.values()) child.kill('SIGKILL')
    rmSync(directory, { recursive: true, force: true })
  }
}

async function prepare(plan: OpenRacePlan): Promise<void> {
  const catraca = await openCatraca(openOptions(plan))
  await catraca.allowlists.create({ id: LIST, name: LIST, type: 'FIXA' })
  const all = {
    capacity: CAPACITY,
    refillAmount: CAPACITY,
    refillPeriodSeconds: WINDOW_SECONDS,
    algorithm: 'fixed-window',
  } as const
  await catraca.limits.setConfig({ level: 'system', resource: RESOURCE }, { limits: { all } })
  await catraca.close()
}

/** What is there when all is quiet must be what was acknowledged. */
async function reckon(
  plan: OpenRacePlan,
  writers: { writer: string; done: Acknowledged }[],
  { opens, members, openMs, byKind }: Tally,
): Promise<Figures> {
  const catraca = await openCatraca(openOptions(plan))
  const stored = new Set(await pagedMembers(catraca.allowlists, LIST))
  const { customerCount } = await catraca.allowlists.get(LIST)
  demand(customerCount === stored.size, `the list counts ${customerCount} and holds ${stored.size}`)
  for (const member of members)
    demand(stored.has(member), `${member} was acknowledged to an opener and is gone`)
  for (const { writer, done } of writers) {
    for (let n = 0; n < done.members; n++)
      demand(stored.has(memberOf(writer, n)), `${memberOf(writer, n)} was acknowledged and is gone`)
    const { limits } = await catraca.limits.status(writer, RESOURCE)
    const remaining = CAPACITY - done.acquired
    demand(
      limits.all!.remaining === remaining,
      `${writer}: ${limits.all!.remaining} remain, not ${remaining}`,
    )
    for (let n = 0; n < done.requests; n++) {
      const record = await catraca.idempotency.get({ operation: OPERATION, key: memberOf(writer, n) })
      demand(record?.status === 'COMPLETED', `${writer}: request ${n} was done and is ${record?.status}`)
    }
    const lock = await catraca.locks.acquire(writer, { ttlMs: 1000 })
    demand(lock.acquired && lock.fence! > done.fence, `${writer}: the last fence was ${done.fence}`)
  }
  await catraca.close()
  const sum = (of: (done: Acknowledged) => number): number =>
    writers.reduce((total, { done }) => total + of(done), 0)
  openMs.sort((a, b) => a - b)
  return {
    opens,
    ...Object.fromEntries(Object.entries(byKind).map(([kind, count]) => [`opens: ${kind}`, count])),
    'opening, median ms': openMs[Math.floor(openMs.length / 2)]!,
    members: sum(({ members: added }) => added),
    acquired: sum(({ acquired }) => acquired),
    requests: sum(({ requests }) => requests),
  }
}

/** So many opens in all, a quarter in each of the four settings. */
export async function run(given: Partial<Sizes>): Promise<Figures> {
  const sizes = { ...SIZES, ...given }
  const places = { disk: tmpdir(), memory: MEMORY_FILE_SYSTEM }
  const figures: Figures = {}
  const settings = Object.entries(places)
    .filter(([, parent]) => existsSync(parent))
    .flatMap(([place, parent]) =>
      (['disk', 'process'] as const).map((durability) => ({ place, parent, durability })),
    )
  const opens = Math.ceil(sizes.opens / settings.length)
  for (const [i, { place, parent, durability }] of settings.entries()) {
    const found = await runIn(parent, durability, { ...sizes, opens, servers: sizes.servers - i })
    for (const [what, value] of Object.entries(found)) figures[`${place}, ${durability}: ${what}`] = value
  }
  return figures
}

await whenStarted(import.meta.url, 'open-race', SIZES, run)
