import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks'

/** How often the event loop is looked at: often enough to see what a check would feel. */
const RESOLUTION_MS = 10

export interface LoopDelays {
  min: number
  max: number
  mean: number
  p50: number
  p90: number
  p99: number
}

/** How late the event loop is. */
export class LoopDelay {
  private readonly histogram: IntervalHistogram

  constructor() {
    this.histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
    this.histogram.enable()
  }

  /** In seconds, since the last time. */
  take(): LoopDelays {
    const { histogram } = this
    const isEmpty = histogram.count === 0
    // Node measures from one look to the next, of which the resolution is no delay.
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
