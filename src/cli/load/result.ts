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
  /** The second of the run, from 1; 0 and below are warm-up. */
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
  /** Requests that the generator itself sent late. */
  late: number
  lateShare: number
  lagP99Ms: number
  /** Requests that had to wait because every connection was busy. */
  waited: number
  peakConnections: number
  /** Why the figures show the limits of the generator rather than of the server; empty when they do not. */
  saturation: string[]
}

export interface LoadResult {
  url: string
  mix: string
  arrivals: string
  startedAt: string
  rate: number
  /** Duration of the measured part, without warm-up and without the wait for the last responses. */
  seconds: number
  endedEarly: boolean
  due: number
  answered: number
  /** Responses per second during the measurement; later responses are not included. */
  achievedRate: number
  /** From the time a request was due to the end of its response. */
  latencyMs: Summary
  /** From the time a request was written to the end of its response. */
  serviceMs: Summary
  errors: Record<FailureKind, number>
  errorCount: number
  statuses: Record<string, number>
  operations: OperationResult[]
  generator: GeneratorHealth
  samples: Sample[]
  curve: CurvePoint[]
  /** How the server answered, from its own counters. */
  answers?: AnswerShares
}
