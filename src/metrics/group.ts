import type { Catraca } from '../app/open-catraca.js'
import type { HttpFigures } from './http-figures.js'
import type { MetricsRegistry } from './registry.js'

/** Everything that is known of a metric before anything is counted; the reference page is made of it. */
export interface MetricFacts {
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly labels?: readonly string[]
  /** Of a histogram, in seconds unless the name says another unit; each one of `Durations`. */
  readonly buckets?: readonly number[]
  /** What several workers of one server make of it together; the sum, when absent. */
  readonly together?: 'sum' | 'max' | 'min' | 'first' | 'average' | 'omit'
}

/** The connections of a server. */
export interface ConnectionFigures {
  readonly count: number
  readonly limit: number
  readonly refused: number
}

/** Where metrics are read from. */
export interface MetricsSource {
  readonly catraca: Catraca
  /** Of a server. */
  readonly http?: HttpFigures
  /** Of a server. */
  readonly connections?: () => ConnectionFigures
  /** Of a server: whether it is ready. */
  readonly ready?: () => boolean
  /** Also what is known of the process: processor, memory, event loop. */
  readonly process?: boolean
}

/** Metrics of one subject. To add one: a file with facts and a function, and a line in catalog.ts. */
export interface MetricGroup {
  readonly title: string
  readonly metrics: readonly MetricFacts[]
  /** Only servers have it. */
  readonly serverOnly?: boolean
  register(registry: MetricsRegistry, source: MetricsSource): void
}
