import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks'

/** Sampling interval of the event loop: short enough to see delays that a check would notice. */
const RESOLUTION_MS = 10

interface LoopDelays {
  min: number
  max: number
  mean: number
  p50: number
  p90: number
  p99: number
}

/** The delay of the event loop. */
export class LoopDelay {
  private readonly histogram: IntervalHistogram

  constructor() {
    this.histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
    this.histogram.enable()
  }

  /** In seconds, since the last call. */
  take(): LoopDelays {
    const { histogram } = this
    const isEmpty = histogram.count === 0
    // Node measures the time between samples; the sampling interval itself is not a delay.
    const seconds = (ns: number) => (isEmpty ? 0 : Math.max(0, ns / 1e9 - RESOLUTION_MS / 1000))
    const taken = {
      min: seconds(histogram.min),
      max: seconds(histogram.max),
      mean: seconds(histogram.mean),
      p50: seconds(histogram.percentile(50)),
      p90: seconds(histogram.percentile(90)),
      p99: seconds(histogram.percentile(99)),
    }
    histogram.reset()
    return taken
  }

  stop(): void {
    this.histogram.disable()
  }
}
