/**
 * Processes that are killed and stopped at any moment work on the same records. Every history must be one that the
 * model in support/idempotency-model.ts explains, and owners that die or sleep at each step must leave what is documented.
 * Arguments: --seconds 20 --processes 4 --rounds 3 --skewMs 200, and the URL of a store; a directory when absent.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { appendFileSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Catraca, openCatraca } from '../../src/app/open-catraca.js'
import { numberArguments } from '../support/arguments.js'
import { isExplained, type Step } from '../support/idempotency-model.js'
import type { Death, ProcessPlan } from '../support/idempotency-process.js'
import { demand, type Figures, heard, inTemporaryDirectory, whenStarted } from '../support/proof.js'

const PROCESS = fileURLToPath(new URL('../support/idempotency-process.js', import.meta.url))
const SIZES = { seconds: 20, processes: 4, rounds: 3, skewMs: 200, duplicates: 200 }
const LEASE_MS = 300
type Sizes = typeof SIZES

type Told =
  | { type: 'ready' }
  | { type: 'working' }
  | { type: 'ended'; isAborted: boolean; code: string }
  | { type: 'answers'; answers: string[]; executed: number }

const start = (plan: ProcessPlan): ChildProcess => fork(PROCESS, [JSON.stringify(plan)], { execArgv: [] })
const exit = (child: ChildProcess) => new Promise((resolve) => child.once('exit', resolve))

export function run(given: Partial<Sizes>, store?: string): Promise<Figures> {
  return inTemporaryDirectory((directory) =>
    onStore(store ?? `embedded:${join(directory, 'store')}`, directory, { ...SIZES, ...given }),
  )
}

async function onStore(store: string, directory: string, sizes: Sizes): Promise<Figures> {
  const catraca = await openCatraca({ store, sweepIntervalMs: 0, idempotency: { timeoutMs: 60_000 } })
  try {
    const figures: Figures = {}
    // Redis decides by its own clock, which no process can set.
    for (const skewMs of sizes.skewMs > 0 ? [0, sizes.skewMs] : [0])
      Object.assign(figures, await histories(catraca, store, directory, sizes, skewMs))
    for (let round = 0; round < sizes.rounds; round++) {
      for (const at of ['claimed', 'effect', 'completing', 'recorded'] as const)
        await deathAt(catraca, store, directory, at, round)
      await pausedOwner(catraca, store, round)
    }
    await duplicates(store, directory, sizes)
    return { ...figures, deaths: 4 * sizes.rounds, pauses: sizes.rounds, duplicates: sizes.duplicates }
  } finally {
    await catraca.close()
  }
}

/** Random work on keys that all processes share, with random deaths and sleeps. */
async function histories(
  { idempotency }: Catraca,
  store: string,
  directory: string,
  { seconds, processes }: Sizes,
  skewMs: number,
): Promise<Figures> {
  const name = skewMs === 0 ? 'history' : 'skewed'
  const common = {
    store,
    work: 'history',
    leaseMs: LEASE_MS,
    keysPerSecond: 3,
    atOnce: 3,
    startedAt: Date.now(),
  } as const
  let born = 0
  let kills = 0
  let sleeps = 0
  const bear = async (i: number): Promise<ChildProcess> => {
    const me = `${name}-${i}-${++born}`
    const log = join(directory, `${me}.log`)
    const child = start({ ...common, name: me, log, skewMs: i % 2 === 0 ? skewMs : -skewMs })
    await heard<Told, 'ready'>(child, 'ready')
    return child
  }
  // The time begins when all are there: on a busy machine processes start late.
  const children = await Promise.all(Array.from({ length: processes }, (_, i) => bear(i)))
  const deadline = Date.now() + seconds * 1000
  const trouble = async (first: ChildProcess, i: number): Promise<void> => {
    let child = first
    while (Date.now() < deadline || (i === 0 && kills === 0)) {
      await sleep(200 + Math.random() * 1500)
      if (Math.random() < 0.4) {
        child.kill('SIGSTOP')
        await sleep(Math.random() * 3 * LEASE_MS)
        child.kill('SIGCONT')
        sleeps++
      } else {
        child.kill('SIGKILL')
        await exit(child)
        child = await bear(i)
        kills++
      }
    }
    child.kill('SIGKILL')
    await exit(child)
  }
  await Promise.all(children.map(trouble))
  const byKey = readSteps(directory, name)
  let longest = 0
  for (const [key, steps] of byKey) {
    const from = Date.now()
    const record = await idempotency.get({ operation: 'PROOF', key })
    const value = record?.responsePayload === undefined ? '' : JSON.parse(record.responsePayload)
    const answer = record === undefined ? 'none' : `${record.status} ${record.attempt} ${value}`
    steps.push({ id: 'last', key, verb: 'read', from, to: Date.now(), leaseMs: 0, answer })
    demand(isExplained(steps, skewMs), `no order explains ${key}: ${JSON.stringify(steps)}`)
    await idempotency.delete({ operation: 'PROOF', key })
    longest = Math.max(longest, steps.length)
  }
  const total = [...byKey.values()].reduce((sum, steps) => sum + steps.length, 0)
  demand(kills > 0 && total > 0, 'nothing happened')
  return {
    [`${name}: steps`]: total,
    [`${name}: keys`]: byKey.size,
    [`${name}: longest history, steps`]: longest,
    [`${name}: kills`]: kills,
    [`${name}: sleeps`]: sleeps,
  }
}

function readSteps(directory: string, name: string): Map<string, Step[]> {
  const steps = new Map<string, Step>()
  for (const file of readdirSync(directory).filter((file) => file.startsWith(`${name}-`))) {
    const lines = readFileSync(join(directory, file), 'utf8').split('\n')
    for (const line of lines.filter((text) => text.endsWith('}'))) {
      const part = JSON.parse(line) as Step
      const before = steps.get(part.id)
      steps.set(part.id, before ? { ...before, ...part } : { ...part, to: Number.POSITIVE_INFINITY })
    }
  }
  const byKey = new Map<string, Step[]>()
  for (const step of steps.values()) byKey.set(step.key, [...(byKey.get(step.key) ?? []), step])
  return byKey
}

const effectsOf = (file: string): number =>
  existsSync(file) ? readFileSync(file, 'utf8').split('\n').length - 1 : 0

/** Longer than a busy machine takes to end a process and to begin the next work. */
const DYING_LEASE_MS = 4000

/** An owner dies: what is documented for each step is what the next one finds. */
async function deathAt(
  { idempotency }: Catraca,
  store: string,
  directory: string,
  at: Death,
  round: number,
): Promise<void> {
  const key = `dies-${at}-${round}-${Date.now()}`
  const effects = join(directory, `${key}.effects`)
  const request = { operation: 'PROOF', key, payload: key }
  const child = start({ store, work: 'die', at, key, effects, leaseMs: DYING_LEASE_MS })
  await exit(child)
  const before = effectsOf(effects)
  demand(before === (at === 'claimed' ? 0 : 1), `${at}: ${before} effects`)
  if (at === 'recorded') {
    const replay = await idempotency.run(request, () => 'second')
    demand(replay.outcome === 'replayed' && replay.value === 'first', `${at}: ${JSON.stringify(replay)}`)
    return
  }
  const early = await idempotency.run(request, () => 'second')
  demand(early.outcome === 'refused' && early.reason === 'in-progress', `${at}: ${JSON.stringify(early)}`)
  await sleep(DYING_LEASE_MS + 100)
  const unknown = await idempotency.run({ ...request, onLeaseExpired: 'unknown' }, () => 'second')
  demand(unknown.outcome === 'refused' && unknown.reason === 'unknown', `${at}: ${JSON.stringify(unknown)}`)
  demand(effectsOf(effects) === before, `${at}: done again where that was forbidden`)
  const again = await idempotency.run(request, ({ attempt }) => {
    appendFileSync(effects, `${key}\n`)
    return attempt
  })
  demand(again.outcome === 'executed' && again.value === 2, `${at}: ${JSON.stringify(again)}`)
  demand(effectsOf(effects) === before + 1, `${at}: ${effectsOf(effects)} effects`)
}

/** An owner sleeps past its lease: it is told, its answer is refused, and everybody gets the other one's. */
async function pausedOwner({ idempotency }: Catraca, store: string, round: number): Promise<void> {
  const key = `pauses-${round}-${Date.now()}`
  const request = { operation: 'PROOF', key, payload: key }
  const child = start({ store, work: 'pause', key, leaseMs: 600 })
  await heard<Told, 'working'>(child, 'working')
  child.kill('SIGSTOP')
  const second = await idempotency.run({ ...request, waitMs: 30_000 }, () => 'second')
  demand(second.outcome === 'executed' && second.attempt === 2, JSON.stringify(second))
  const ended = heard<Told, 'ended'>(child, 'ended')
  child.kill('SIGCONT')
  const { isAborted, code } = await ended
  demand(isAborted && code === 'IDEMPOTENCY_CLAIM_LOST', `the late owner was told ${isAborted}, ${code}`)
  const replay = await idempotency.run(request, () => 'third')
  demand(replay.outcome === 'replayed' && replay.value === 'second', JSON.stringify(replay))
  child.kill('SIGKILL')
}

async function duplicates(store: string, directory: string, { processes, duplicates }: Sizes): Promise<void> {
  const key = `duplicates-${Date.now()}`
  const effects = join(directory, `${key}.effects`)
  const times = Math.ceil(duplicates / processes)
  const told = await Promise.all(
    Array.from({ length: processes }, () =>
      heard<Told, 'answers'>(start({ store, work: 'duplicates', key, times, effects }), 'answers'),
    ),
  )
  const answers = told.flatMap((one) => one.answers)
  const executed = told.reduce((sum, one) => sum + one.executed, 0)
  demand(answers.length === times * processes, `${answers.length} answers`)
  demand(executed === 1 && effectsOf(effects) === 1, `${executed} executed, ${effectsOf(effects)} effects`)
  demand(new Set(answers).size === 1, `${new Set(answers).size} different answers`)
}

await whenStarted(import.meta.url, 'idempotency', SIZES, (sizes) =>
  run(sizes, numberArguments(SIZES).positionals[0]),
)
