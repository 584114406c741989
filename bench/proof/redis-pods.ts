/**
 * Several pods follow one Redis while another process writes: every pod applies every change, in the same order, and a
 * check that carries the token of a write never misses it. Tells the delay from the acknowledgement of a write to its
 * arrival in each pod.
 * Arguments: --pods 4 --seconds 60 --changesPerSecond 2000 --members 100000
 */
import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { type Catraca, openCatraca } from '../../src/app/open-catraca.js'
import { customer } from '../../src/conformance/support.js'
import { startSingle } from '../../test/support/redis/index.js'
import { demand, type Figures, heard, lines, whenStarted } from '../support/proof.js'
import type { FromPod, ToPod } from '../support/redis-pod.js'
import { delayFigures, writeAtPace } from '../support/timed-changes.js'

const SIZES = { pods: 4, seconds: 60, changesPerSecond: 2000, members: 100_000 }
const POD = fileURLToPath(new URL('../support/redis-pod.js', import.meta.url))
const TICK_MS = 10
/** One write in so many is asked for with its token, in every pod. */
const ASKED_EVERY = 10

export async function run(given: Partial<typeof SIZES>): Promise<Figures> {
  const sizes = { ...SIZES, ...given }
  const redis = await startSingle()
  const pods: ChildProcess[] = []
  try {
    const catraca = await openCatraca({ store: redis.storeUrl, sweepIntervalMs: 0 })
    try {
      await prepare(catraca, sizes.members)
      for (let i = 0; i < sizes.pods; i++) pods.push(fork(POD, [redis.storeUrl], { execArgv: [] }))
      await Promise.all(pods.map((pod) => heard<FromPod, 'ready'>(pod, 'ready')))
      const { allowlists } = catraca
      const ackedAtMs = await writeAtPace({
        ...sizes,
        tickMs: TICK_MS,
        askedEvery: ASKED_EVERY,
        add: (id) => allowlists.add('a', id),
        remove: (id) => allowlists.remove('a', id),
        pods: () => pods,
        isGoingOn: (ms) => ms < 1000 * sizes.seconds,
      })
      const ended = await Promise.all(
        pods.map((pod) => {
          const told = heard<FromPod, 'ended'>(pod, 'ended')
          pod.send({ type: 'end', changes: ackedAtMs.size } satisfies ToPod)
          return told
        }),
      )
      return judge(ackedAtMs, ended)
    } finally {
      await catraca.close()
    }
  } finally {
    for (const pod of pods) pod.kill('SIGKILL')
    await redis.stop()
  }
}

async function prepare({ allowlists }: Catraca, members: number): Promise<void> {
  await allowlists.create({ id: 'a', name: 'a', type: 'FIXA' })
  const ids = Array.from({ length: members }, (_, i) => customer(i))
  await allowlists.import('a', lines(ids), { format: 'text' })
  await allowlists.rebuild('a')
}

function judge(ackedAtMs: Map<string, number>, ended: Extract<FromPod, { type: 'ended' }>[]): Figures {
  const delays: number[] = []
  let tokenChecks = 0
  for (const [i, { changes, arrivedAtMs, missed, tokenChecks: asked }] of ended.entries()) {
    demand(changes.length === ackedAtMs.size, `pod ${i} saw ${changes.length} of ${ackedAtMs.size} changes`)
    demand(missed === 0, `pod ${i} missed ${missed} writes whose token it had`)
    demand(
      changes.every((change, n) => change === ended[0]!.changes[n]),
      `pod ${i} saw another order`,
    )
    changes.forEach((change, n) => {
      const acked = ackedAtMs.get(change)
      demand(acked !== undefined, `pod ${i} saw ${change}, which nobody did`)
      delays.push(Math.max(0, arrivedAtMs[n]! - acked))
    })
    tokenChecks += asked
  }
  demand(tokenChecks > 0, 'checks with tokens were made')
  const sum = (of: (pod: (typeof ended)[number]) => number) =>
    ended.reduce((total, pod) => total + of(pod), 0)
  return {
    changes: ackedAtMs.size,
    tokenChecks,
    ...delayFigures(delays),
    checksFromMemory: sum((pod) => pod.fromMemory),
    checksFromStore: sum((pod) => pod.fromStore),
  }
}

await whenStarted(import.meta.url, 'redis-pods', SIZES, run)
