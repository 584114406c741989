/**
 * Four pods use all capabilities of one store, while faults that a seed chooses strike it, its network and the pods.
 * In the end the histories of all calls must keep the guarantees, apart from what the guarantees declare for a fault.
 * Arguments: --seed 1 --engine redis|sentinel|dynamodb|embedded --minutes 30
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { openCatraca } from '../../src/app/open-catraca.js'
import { CREDENTIALS, CREDENTIALS_ENV } from '../../test/support/dynamodb-server.js'
import { CHECKERS, type Declared, declaredFor } from '../support/campaign/checkers.js'
import { chanceOf, FAULTS, faultsOf } from '../support/campaign/faults.js'
import {
  type FromPod,
  LANES,
  LIMITS,
  nowMs,
  type PodPlan,
  type Told,
  type ToPod,
} from '../support/campaign/history.js'
import { ENGINES, type EngineName, openStage, type Stage } from '../support/campaign/stage.js'
import { demand, type Figures } from '../support/proof.js'
import { report } from '../support/report.js'

const POD = fileURLToPath(new URL('../support/campaign/pod.js', import.meta.url))
const CLOCK = new URL('../support/campaign/clock.js', import.meta.url).href
const PODS = 4
/** Between two faults: time to recover, so that each finds the store at work. */
const REST_MS = 2500
const LONGEST_MS = 3000
/** Far more than stopping takes, and what a pod does before it stops. */
const STOP_MS = 200_000

export interface CampaignSizes {
  seed: number
  engine: EngineName
  seconds: number
  /** Only these faults. Absent: all of the engine. */
  faults?: readonly string[]
}

/** What was done to the store and to the pods. */
interface Struck {
  declared: Declared[]
  times: Record<string, number>
  timeline: string[]
  endsMs: number[]
}

class Pod {
  private child!: ChildProcess
  private isOver = false
  private isKilled = false
  readonly events: Told[] = []
  calls = 0
  failures: Record<string, number> = {}
  restarts = 0
  mayEnd = false
  /** How often it ended by itself while it was allowed to. */
  ends = 0
  private done!: Promise<void>
  failed: string | undefined
  other!: Pod

  constructor(private readonly plan: PodPlan) {}

  async start(): Promise<void> {
    const child = fork(POD, [JSON.stringify(this.plan)], {
      execArgv: ['--import', CLOCK],
      env: { ...process.env, ...CREDENTIALS_ENV },
    })
    this.child = child
    let isReady!: () => void
    const ready = new Promise<void>((resolve) => {
      isReady = resolve
    })
    child.on('message', (message: FromPod) => {
      if (message.type === 'ready') isReady()
      else if (message.type === 'told') this.events.push(...message.events)
      else if (message.type === 'verify') this.other.say(message)
      else if (message.type === 'verified') this.before.say(message)
      else if (message.type === 'failed') this.failed ??= message.message
      else this.finish(message)
    })
    this.done = once(child, 'exit').then(([code, signal]) => {
      const isOwn = !this.isOver && !this.isKilled
      if (isOwn && this.mayEnd && (signal === 'SIGABRT' || signal === 'SIGSEGV')) this.ends++
      else if (isOwn) this.failed ??= `it ended with ${code ?? signal}`
      this.isKilled = false
      isReady()
    })
    await ready
  }

  /** The answer to a verification goes to the pod that asked: the one before. */
  before!: Pod

  say(message: ToPod): void {
    if (this.child.connected) this.child.send(message, () => {})
  }

  private finish({ calls, failures }: Extract<FromPod, { type: 'done' }>): void {
    this.calls += calls
    for (const [code, count] of Object.entries(failures))
      this.failures[code] = (this.failures[code] ?? 0) + count
  }

  async kill(): Promise<void> {
    this.isKilled = true
    this.child.kill('SIGKILL')
    await this.done
    this.restarts++
    if (!this.isOver) await this.start()
  }

  get pid(): number {
    return this.child.pid!
  }

  setClock(offsetMs: number): void {
    this.say({ type: 'clock', offsetMs })
  }

  stop(): void {
    this.child.kill('SIGSTOP')
  }

  resume(): void {
    this.child.kill('SIGCONT')
  }

  async end(): Promise<void> {
    this.isOver = true
    this.say({ type: 'stop' })
    const isStuck = await Promise.race([this.done.then(() => false), sleep(STOP_MS, true)])
    if (isStuck) this.child.kill('SIGKILL')
    demand(!isStuck, `pod ${this.plan.pod} did not stop within ${STOP_MS} ms`)
  }
}

export async function run({ seed, engine, seconds, faults }: CampaignSizes): Promise<Figures> {
  const source = mkdtempSync(join(tmpdir(), 'catraca-source-'))
  mkdirSync(source, { recursive: true })
  for (let i = 0; i < PODS; i++) writeFileSync(join(source, `version-${i}`), '1')
  const stage = await openStage(engine, PODS)
  try {
    return await onStage(stage, source, { seed, engine, seconds, ...(faults && { faults }) })
  } finally {
    await stage.close()
    rmSync(source, { recursive: true, force: true })
  }
}

async function onStage(stage: Stage, source: string, sizes: CampaignSizes): Promise<Figures> {
  const { engine } = sizes
  await prepare(stage)
  const isDynamo = engine === 'dynamodb'
  const pods = stage.stores.map((store, pod) => new Pod({ pod, store, source, isDynamo }))
  pods.forEach((pod, i) => {
    pod.other = pods[(i + 1) % PODS]!
    pod.before = pods[(i + PODS - 1) % PODS]!
  })
  await Promise.all(pods.map((pod) => pod.start()))
  const struck: Struck = { declared: [], times: {}, timeline: [], endsMs: [] }
  try {
    await strike(stage, pods, sizes, struck)
  } finally {
    await Promise.all(pods.map((pod) => pod.end()))
  }
  for (const pod of pods) {
    const { failed } = pod
    demand(failed === undefined, `a pod failed: ${failed}\n faults:\n  ${struck.timeline.join('\n  ')}`)
  }
  const events = [...pods.flatMap((pod) => pod.events), ...(await auditTrail(stage))]
  return judge(events, pods, struck, sizes)
}

/** What pods expect to be there. After a flush it is made again. */
async function prepare({ store }: Stage): Promise<void> {
  const catraca = await openCatraca({
    ...{ store, sweepIntervalMs: 0, codes: { pepper: 'the pepper of the campaign, which is no secret' } },
    dynamodb: { credentials: CREDENTIALS, probeIntervalMs: 0 },
  })
  try {
    await catraca.allowlists.create({ id: 'campaign', name: 'Campaign', type: 'FIXA' }).catch(() => {})
    const limit = { capacity: LIMITS.capacity, refillPeriodSeconds: LIMITS.periodMs / 1000 }
    const limits = { calls: { ...limit, algorithm: 'sliding-window' as const } }
    await catraca.limits.setConfig({ level: 'system', resource: 'campaign' }, { limits })
    const local = { limits, onUnavailable: 'local' } as const
    await catraca.limits.setConfig({ level: 'system', resource: 'campaign-local' }, local)
  } finally {
    await catraca.close()
  }
}

async function strike(
  stage: Stage,
  pods: Pod[],
  { seed, engine, seconds, faults = faultsOf(engine) }: CampaignSizes,
  { declared, times: strikes, timeline, endsMs }: Struck,
): Promise<void> {
  const chance = chanceOf(seed)
  const endMs = nowMs() + 1000 * seconds
  await sleep(Math.min(REST_MS, 250 * seconds))
  while (nowMs() < endMs) {
    const name = faults[chance(faults.length)]!
    const { losesData = false, lanes, mayEnd = false, strike } = FAULTS[name]!
    const forMs = 300 + chance(LONGEST_MS - 300)
    const beganMs = nowMs()
    const times: Declared = { beganMs, endedMs: Number.POSITIVE_INFINITY, lanes }
    if (losesData) declared.push(times)
    for (const pod of pods) pod.mayEnd = mayEnd
    await strike({ stage, chance, pods }, forMs)
    for (const pod of pods) pod.mayEnd = false
    if (name === 'everything flushed' || name === 'primary killed') await prepare(stage)
    // Pods have to find it again.
    times.endedMs = nowMs() + 500
    strikes[name] = (strikes[name] ?? 0) + 1
    endsMs.push(nowMs())
    timeline.push(`${name} from ${Math.round(beganMs)} to ${Math.round(nowMs())}`)
    await sleep(Math.min(REST_MS, Math.max(0, endMs - nowMs())))
  }
}

/** The adds of each customer that the trail holds, as events for the checker. */
async function auditTrail({ store }: Stage): Promise<Told[]> {
  const catraca = await openCatraca({
    ...{ store, sweepIntervalMs: 0, codes: { pepper: 'the pepper of the campaign, which is no secret' } },
    dynamodb: { credentials: CREDENTIALS, probeIntervalMs: 0 },
  })
  const counts = new Map<string, number>()
  try {
    let cursor: string | undefined
    do {
      const query = { action: 'allowlist.member.add', limit: 1000, ...(cursor && { cursor }) }
      const page = await catraca.audit.list(query)
      for (const { target } of page.items) {
        const { customerId = '' } = target
        counts.set(customerId, (counts.get(customerId) ?? 0) + 1)
      }
      cursor = page.nextCursor
    } while (cursor !== undefined)
  } finally {
    await catraca.close()
  }
  const at = nowMs()
  return [...counts].map(([key, listed]) => ({
    ...{ lane: 'audit' as const, pod: -1, key, beganMs: at, endedMs: at, listed },
  }))
}

/** How long after its call, or after the fault that kept it from the store, a removal from a cache was sent. */
function sentAfterMs({ calledMs, endedMs }: Told, endsMs: readonly number[]): number {
  return endedMs - Math.max(Number(calledMs), ...endsMs.filter((ms) => ms < endedMs))
}

function judge(
  events: readonly Told[],
  pods: readonly Pod[],
  { declared, times: strikes, timeline, endsMs }: Struck,
  { seed, engine }: CampaignSizes,
): Figures {
  const figures: Figures = {}
  const faults: string[] = []
  for (const lane of LANES) {
    const ofLane = events.filter((event) => event.lane === lane)
    figures[`${lane}: events`] = ofLane.length
    faults.push(...CHECKERS[lane](ofLane, declaredFor(lane, declared)).map((fault) => `${lane}: ${fault}`))
  }
  const sendMs = events
    .filter(({ calledMs }) => calledMs !== undefined)
    .map((told) => sentAfterMs(told, endsMs))
  figures['removals from caches sent later'] = sendMs.length
  figures['longest after its call or a fault, ms'] = Math.round(Math.max(0, ...sendMs))
  figures['degraded answers'] = events.filter(({ degraded }) => degraded === true).length
  figures.calls = pods.reduce((sum, { calls }) => sum + calls, 0)
  figures['pods started again'] = pods.reduce((sum, { restarts }) => sum + restarts, 0)
  const ends = pods.reduce((sum, pod) => sum + pod.ends, 0)
  if (ends > 0) figures['pods that a full disk ended'] = ends
  for (const [name, times] of Object.entries(strikes)) figures[`fault: ${name}`] = times
  for (const { failures } of pods) {
    for (const [code, count] of Object.entries(failures))
      figures[`failed: ${code}`] = (figures[`failed: ${code}`] ?? 0) + count
  }
  figures.violations = faults.length
  // Some of each kind, because one defect may break the same promise many times.
  const some = LANES.flatMap((lane) => faults.filter((fault) => fault.startsWith(`${lane}:`)).slice(0, 5))
  const shown = some.join('\n  ')
  demand(
    faults.length === 0,
    `seed ${seed} on ${engine}: ${faults.length} violations\n  ${shown}\n faults:\n  ${timeline.join('\n  ')}`,
  )
  return figures
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: {
      ...{ seed: { type: 'string' }, engine: { type: 'string' }, minutes: { type: 'string' } },
      fault: { type: 'string', multiple: true },
    },
  })
  const engine = ENGINES.find((known) => known === (values.engine ?? 'redis'))
  if (engine === undefined) throw new Error(`--engine must be one of ${ENGINES.join(', ')}`)
  const [seed, minutes] = [Number(values.seed ?? 1), Number(values.minutes ?? 30)]
  const { fault: faults } = values
  const figures = await run({ seed, engine, seconds: 60 * minutes, ...(faults && { faults }) })
  report({
    name: `proof-campaign-${engine}`,
    rounds: 1,
    setting: { seed, engine, minutes },
    figures,
    ratios: {},
  })
  process.exit(0)
}
