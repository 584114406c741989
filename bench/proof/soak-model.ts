/**
 * One process under mixed work for a long time: checks at a steady rate while members are added, removed, expire and
 * are imported, a list is replaced again and again, another created and deleted. Every answer is held against a model
 * in memory. Tells how the memory grows over the second half, and how long checks take.
 * Arguments: --seconds 600 --checksPerSecond 2000 --setSize 20000
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { openCatraca } from '../../src/app/open-catraca.js'
import { Histogram } from '../../src/cli/load/histogram.js'
import { anonymousBytes } from '../support/memory.js'
import {
  agreedMembers,
  demand,
  demandNoLitter,
  type Figures,
  inTemporaryDirectory,
  sameSet,
  whenStarted,
} from '../support/proof.js'
import { SoakWork } from '../support/soak-work.js'

const SIZES = { seconds: 600, checksPerSecond: 2000, setSize: 20_000 }
const MIB = 1024 * 1024
const TICK_MS = 5
const SAMPLES = 600
/** Between two pieces of the same work: the process is busy, not drowned. */
const REST_MS = { addOrRemove: 2, addForAWhile: 10, importAndRemove: 300, replace: 500, createAndDelete: 50 }

interface Sample {
  minutes: number
  anonymousMiB: number
}

export function run(given: Partial<typeof SIZES>): Promise<Figures> {
  const { seconds, checksPerSecond, setSize } = { ...SIZES, ...given }
  return inTemporaryDirectory(async (directory) => {
    const catraca = await openCatraca({
      store: `embedded:${directory}`,
      sweepIntervalMs: 200,
      embedded: { writeTimeoutMs: 60_000 },
    })
    const work = new SoakWork(catraca, setSize)
    const loop = monitorEventLoopDelay({ resolution: 5 })
    let figures: Figures
    let members: number
    try {
      await work.prepare()
      loop.enable()
      const until = performance.now() + 1000 * seconds
      const [times, samples, ...counts] = await Promise.all([
        checkSteadily(work, checksPerSecond, until),
        sampleMemory(until, (1000 * seconds) / SAMPLES),
        ...Object.keys(REST_MS).map((lane) => repeat(work, lane as keyof typeof REST_MS, until)),
      ])
      loop.disable()
      figures = {
        ...Object.fromEntries(Object.keys(REST_MS).map((lane, i) => [lane, counts[i] as number])),
        ...describe(times as Histogram, samples as Sample[]),
        'event loop p99 ms': loop.percentile(99) / 1e6,
        'event loop longest ms': loop.max / 1e6,
        'store MiB': ((await catraca.health()).engines[0]!.sizeBytes as number) / MIB,
      }
      const expected = await work.settle()
      for (const listId of ['members', 'replaced'] as const) {
        const found = await agreedMembers(catraca, listId, expected.asked)
        demand(sameSet(found, expected[listId]), `${listId}: not what the model holds in the end`)
      }
      members = expected.members.size + expected.replaced.size
    } finally {
      await catraca.close()
    }
    await demandNoLitter(directory, members)
    return figures
  })
}

async function repeat(work: SoakWork, lane: keyof typeof REST_MS, until: number): Promise<number> {
  let done = 0
  for (; performance.now() < until; done++) {
    await work.lanes[lane]()
    await rest(REST_MS[lane])
  }
  return done
}

async function checkSteadily(work: SoakWork, perSecond: number, until: number): Promise<Histogram> {
  const times = new Histogram()
  const begin = performance.now()
  while (performance.now() < until) {
    const due = Math.floor(((performance.now() - begin) / 1000) * perSecond)
    while (times.count < due) {
      const asked = performance.now()
      await work.check()
      times.add(performance.now() - asked)
    }
    await rest(TICK_MS)
  }
  return times
}

async function sampleMemory(until: number, everyMs: number): Promise<Sample[]> {
  const samples: Sample[] = []
  while (performance.now() < until) {
    samples.push({ minutes: performance.now() / 60_000, anonymousMiB: anonymousBytes('self')! / MIB })
    await rest(everyMs)
  }
  return samples
}

function describe(times: Histogram, samples: Sample[]): Figures {
  const later = samples.slice(samples.length >> 1)
  return {
    checks: times.count,
    'check p50 ms': times.percentile(0.5),
    'check p99 ms': times.percentile(0.99),
    'RssAnon MiB at half time': later[0]!.anonymousMiB,
    'RssAnon MiB in the end': later.at(-1)!.anonymousMiB,
    'RssAnon MiB/min over the second half': slope(later),
  }
}

/** Least squares: what a minute adds. */
function slope(samples: Sample[]): number {
  const mean = (of: (sample: Sample) => number) =>
    samples.reduce((sum, one) => sum + of(one), 0) / samples.length
  const minutes = mean((sample) => sample.minutes)
  const memory = mean((sample) => sample.anonymousMiB)
  const covariance = mean((sample) => (sample.minutes - minutes) * (sample.anonymousMiB - memory))
  return covariance / mean((sample) => (sample.minutes - minutes) ** 2)
}

function rest(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

await whenStarted(import.meta.url, 'soak-model', SIZES, run)
