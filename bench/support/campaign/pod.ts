import { setTimeout as sleep } from 'node:timers/promises'
import { type Catraca, openCatraca } from '../../../src/app/open-catraca.js'
import { isCatracaError } from '../../../src/core/errors.js'
import { dieOfFailures } from '../proof.js'
import { type FromPod, LANES, type Lane, nowMs, type PodPlan, type Told, type ToPod } from './history.js'
import { lanesOf, owedRemovals, type Surroundings } from './lanes.js'

/** One pod of a campaign: works on all capabilities until it is told to stop, and tells of every call. */
const FLUSH_MS = 50
/** On a busy machine few of the attempts have the processor in time. */
const OPEN_MS = 150_000
const OPEN_REST_MS = 500
const TICK_MS = 10
/** A tick that comes later than this tells of a process that got no processor, was stopped, or was busy. */
const PAUSE_MS = 50
/** The faults are over, and the machine may be busy. */
const SEND_MS = 60_000
const REST_MS: Record<Lane, number> = {
  ...{ allowlists: 15, limits: 20, local: 20, idempotency: 40, locks: 15, codes: 50, cache: 5, audit: 1000 },
}

dieOfFailures()
// A write beyond the limit of files then fails, as it does on a full disk. Without a handler the signal kills.
process.on('SIGXFSZ', () => {})
const plan = JSON.parse(process.argv[2]!) as PodPlan
const life = process.pid
const send = (message: FromPod): void => void process.send!(message, () => {})

const dynamodb = { probeIntervalMs: 0, readTimeoutMs: 1500, writeTimeoutMs: 2000 }
const open = () =>
  openCatraca({
    store: plan.store,
    sweepIntervalMs: 500,
    redis: { commandTimeoutMs: 1000, connectTimeoutMs: 5000 },
    dynamodb: { ...dynamodb, connectTimeoutMs: 1000, requestTimeoutMs: 1000 },
    embedded: { writeTimeoutMs: 3000 },
    codes: { pepper: 'the pepper of the campaign, which is no secret' },
    // An acknowledged change must be in the trail.
    audit: { onFailure: 'fail' },
    onUnavailable: 'last-known',
    limits: { localShare: 0.25, usageFlushMs: 1000 },
    onReport: () => {},
  })

/** As a supervisor starts a process again that found its store away. */
async function openPatiently(): Promise<Catraca> {
  for (const untilMs = performance.now() + OPEN_MS; ; ) {
    try {
      return await open()
    } catch (error) {
      if (!isCatracaError(error, 'ENGINE_UNAVAILABLE') || performance.now() > untilMs) throw error
      await sleep(OPEN_REST_MS)
    }
  }
}
const catraca = await openPatiently()

let told: Told[] = []
setInterval(() => {
  if (told.length > 0) send({ type: 'told', events: told })
  told = []
}, FLUSH_MS).unref()

const asking = new Map<number, (answer: { allowed: boolean; degraded: boolean; failed: boolean }) => void>()
let asked = 0
const around: Surroundings = {
  ...{ catraca, plan, life },
  tell: (lane, key, beganMs, facts) =>
    void told.push({ ...{ lane, pod: plan.pod, key, beganMs, endedMs: nowMs() }, ...facts }),
  verify(customer, token) {
    const id = ++asked
    send({ type: 'verify', id, customer, token })
    return new Promise((resolve) => {
      // The other pod may be killed.
      const nobody = setTimeout(() => resolve({ allowed: false, degraded: false, failed: true }), 4000)
      asking.set(id, (answer) => {
        clearTimeout(nobody)
        asking.delete(id)
        resolve(answer)
      })
    })
  },
}

let tickMs = nowMs()
setInterval(() => {
  const beforeMs = tickMs
  tickMs = nowMs()
  if (tickMs - beforeMs > PAUSE_MS) around.tell('cache', 'pauses', beforeMs, { paused: true })
}, TICK_MS).unref()

let isOver = false
process.on('message', (message: ToPod) => {
  if (message.type === 'stop') isOver = true
  else if (message.type === 'clock') return
  else if (message.type === 'verified') asking.get(message.id)?.(message)
  else {
    const { id, customer, token } = message
    catraca.allowlists.check(customer, ['campaign'], { atLeast: token }).then(
      ({ overallAllowed, degraded }) =>
        send({ type: 'verified', id, allowed: overallAllowed, degraded: degraded === true, failed: false }),
      () => send({ type: 'verified', id, allowed: false, degraded: false, failed: true }),
    )
  }
})

/** What a fault may bring to a caller. Anything else is a defect. */
const EXPECTED = ['ENGINE_UNAVAILABLE', 'UNKNOWN_OUTCOME', 'STORE_FULL', 'LOCK_LOST', 'ALLOWLIST_NOT_FOUND']
const FURTHER = ['LIMIT_NOT_CONFIGURED', 'IDEMPOTENCY_CLAIM_LOST', 'AUDIT_NOT_RECORDED', 'STORE_IN_USE']
/** After a failed write the process is to be started again. The campaign does it. */
const UNUSABLE = ['STORE_UNUSABLE']
const failures: Record<string, number> = {}
let calls = 0

async function run(lane: Lane): Promise<void> {
  const work = lanesOf(around)[lane]
  for (let turn = 0; !isOver; turn++) {
    calls++
    try {
      await work(turn)
    } catch (error) {
      const code = [...EXPECTED, ...FURTHER, ...UNUSABLE].find((known) =>
        isCatracaError(error, known as 'CLOSED'),
      )
      if (code === undefined) throw error
      failures[code] = (failures[code] ?? 0) + 1
    }
    await sleep(REST_MS[lane] * (0.5 + Math.random()))
  }
}

send({ type: 'ready' })
await Promise.all(LANES.map(run))
const untilMs = nowMs() + SEND_MS
while (owedRemovals(catraca) > 0 && nowMs() < untilMs) await sleep(TICK_MS)
if (owedRemovals(catraca) > 0) send({ type: 'failed', message: 'it never sent a removal from the cache' })
send({ type: 'told', events: told })
await catraca.close()
send({ type: 'done', calls, failures })
process.disconnect()
