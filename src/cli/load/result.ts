import type { AnswerShares } from './answers.js'
import type { FailureKind } from './request.js'

/** Milliseconds. */
export interface Summary {
  mean: number
  p50: number
  p90: number
  p95: number
  p99: number
  p999: number
  max: number
}

export interface Sample {
  /** The second of the run that it speaks of, from 1; below that it is warm-up. */
  second: number
  sent: number
  answered: number
  errors: number
  inFlight: number
  p50: number
  p95: number
  p99: number
}

export interface OperationResult {
  name: string
  answered: number
  errors: number
  share: number
  latencyMs: Summary
}

export interface CurvePoint {
  percentile: number
  latencyMs: number
  serviceMs: number
}

export interface GeneratorHealth {
  /** Requests that the generator itself noticed too late. */
  late: number
  lateShare: number
  lagP99Ms: number
  /** Requests that found every connection busy. */
  waited: number
  peakConnections: number
  /** Why the figures say more of the generator than of the server; empty when they do not. */
  saturation: string[]
}

export interface LoadResult {
  url: string
  mix: string
  arrivals: string
  startedAt: string
  rate: number
  /** Of the measured part, without warm-up and without waiting for the last answers. */
  seconds: number
  endedEarly: boolean
  due: number
  answered: number
  /** Answers a second that came while it was measured; what came when nothing was due any more is not in it. */
  achievedRate: number
  /** From the time a request was due to the end of its answer. */
  latencyMs: Summary
  /** From the time it was written. */
  serviceMs: Summary
  errors: Record<FailureKind, number>
  errorCount: number
  statuses: Record<string, number>
  operations: OperationResult[]
  generator: GeneratorHealth
  samples: Sample[]
  curve: CurvePoint[]
  /** How the server made its answers, by its own count. */
  answers?: AnswerShares
}
