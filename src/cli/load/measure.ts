import type { CatracaClient } from '../../client/index.js'
import { answersBetween, readAnswers } from './answers.js'
import { Generator, type LoadPlan } from './generator.js'
import type { Origin } from './origin.js'
import { Recorder } from './recorder.js'
import type { NextRequest } from './request.js'
import type { LoadResult, Sample } from './result.js'

export interface Measurement {
  origin: Origin
  /** To read the counters of the server; without it they are not read. */
  client?: CatracaClient
  plan: LoadPlan
  warmUpMs: number
  mix: string
  next: NextRequest
  onSample?: (sample: Sample) => void
  /** Ends the run early, with a result of what was measured. */
  signal?: AbortSignal
}

const SECOND_MS = 1000

/** One run at one rate. */
export async function measure(measurement: Measurement): Promise<LoadResult> {
  const { origin, plan, warmUpMs, mix, next, onSample, signal } = measurement
  const recorder = new Recorder(-Math.round(warmUpMs / SECOND_MS))
  const whole = { ...plan, durationMs: plan.durationMs + warmUpMs }
  const generator = new Generator(origin, whole, next, recorder)
  const startedAt = new Date().toISOString()
  const before = await answerCounts(measurement)
  let endedMs = 0
  const stop = () => {
    endedMs = performance.now()
    recorder.measureUntilMs = endedMs
    generator.stop()
  }
  let ticking: NodeJS.Timeout | undefined
  try {
    await generator.run((startMs) => {
      recorder.measureFromMs = startMs + warmUpMs
      recorder.measureUntilMs = recorder.measureFromMs + plan.durationMs
      ticking = setInterval(() => {
        const sample = recorder.sample(generator.inFlight)
        onSample?.(sample)
      }, SECOND_MS)
      signal?.addEventListener('abort', stop, { once: true })
      if (signal?.aborted) stop()
    })
  } finally {
    clearInterval(ticking)
    signal?.removeEventListener('abort', stop)
  }
  const after = await answerCounts(measurement)
  const measuredMs = endedMs === 0 ? plan.durationMs : Math.max(0, endedMs - recorder.measureFromMs)
  const answers = before && after && answersBetween(before, after)
  return {
    ...{ url: origin.url, mix, arrivals: plan.arrivals, startedAt, rate: plan.rate },
    seconds: measuredMs / SECOND_MS,
    endedEarly: endedMs !== 0,
    due: recorder.dueCount,
    answered: recorder.answeredCount,
    achievedRate: measuredMs === 0 ? 0 : (SECOND_MS * recorder.answeredInTime) / measuredMs,
    ...recorder.summaries(),
    ...{ errors: recorder.errors, errorCount: recorder.errorCount, statuses: recorder.statusCounts() },
    operations: recorder.operationResults(),
    generator: recorder.generatorHealth(generator.peakConnections, plan.maxConnections),
    ...{ samples: recorder.samples, curve: recorder.curve() },
    ...(answers && { answers }),
  }
}

async function answerCounts({ client }: Measurement): ReturnType<typeof readAnswers> {
  return client === undefined ? undefined : readAnswers(client)
}
