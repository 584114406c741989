import type { Catraca, GuardName } from '../app/open-catraca.js'
import type { HttpFigures } from './http-figures.js'
import type { MetricsRegistry } from './registry.js'

/** The static description of a metric; the reference page is generated from it. */
export interface MetricFacts {
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly labels?: readonly string[]
  /** Buckets of a histogram, in seconds unless the name says another unit. Each must be a bucket of `Durations`. */
  readonly buckets?: readonly number[]
  /** How the values of several workers are combined; the sum when absent. */
  readonly together?: 'sum' | 'max' | 'min' | 'first' | 'average' | 'omit'
}

/** The connections of a server. */
export interface ConnectionFigures {
  readonly count: number
  readonly limit: number
  readonly refused: number
}

/** Sources of the metrics. */
export interface MetricsSource {
  readonly catraca: Catraca
  /** Set for a server. */
  readonly http?: HttpFigures
  /** Set for a server. */
  readonly connections?: () => ConnectionFigures
  /** Set for a server: whether it is ready. */
  readonly ready?: () => boolean
  /** Whether to include the process: processor, memory, event loop. */
  readonly process?: boolean
}

/** Metrics of one topic. To add a group: a file with descriptions and a function, and a line in catalog.ts. */
export interface MetricGroup {
  readonly title: string
  readonly metrics: readonly MetricFacts[]
  /** The guard that is measured. If the engine does not offer it, the group is left out. */
  readonly guard?: GuardName
  /** Only for servers. */
  readonly serverOnly?: boolean
  register(registry: MetricsRegistry, source: MetricsSource): void
}
