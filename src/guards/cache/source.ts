import type { Clock } from '../../core/clock.js'
import { CatracaError } from '../../core/errors.js'
import { later } from '../../core/timers.js'
import { Breaker, type BreakerOptions } from './breaker.js'
import { LoadTime } from './early-refresh.js'
import type { LoadMany } from './types.js'

/** The source of values: measures load times, and skips loads while it fails repeatedly. */
export class Source<T> {
  readonly loadTime = new LoadTime()
  loads = 0
  failures = 0
  loaded = 0
  private readonly breaker: Breaker

  constructor(
    private readonly options: { name: string; hardLoadTimeoutMs: number; breaker: BreakerOptions },
    private readonly clock: Clock,
  ) {
    this.breaker = new Breaker(options.breaker)
  }

  isDown(): boolean {
    return this.breaker.isOpen(this.clock.now())
  }

  async load(keys: readonly string[], load: LoadMany<T>): Promise<ReadonlyMap<string, T | undefined | null>> {
    const { name } = this.options
    const beganAt = this.clock.now()
    if (!this.breaker.admits(beganAt)) {
      throw new CatracaError(
        'SOURCE_UNAVAILABLE',
        `cache ${name}: the source failed repeatedly and is not called for a while`,
      )
    }
    this.loads++
    try {
      const values = await this.within(load, keys)
      this.breaker.succeed()
      this.loaded++
      this.loadTime.add(this.clock.now() - beganAt)
      return values
    } catch (error) {
      this.failures++
      this.breaker.fail(this.clock.now())
      throw error
    }
  }

  private async within(load: LoadMany<T>, keys: readonly string[]) {
    const { name, hardLoadTimeoutMs } = this.options
    const controller = new AbortController()
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = later(() => {
        const error = new CatracaError(
          'SOURCE_TIMEOUT',
          `cache ${name}: no value within ${hardLoadTimeoutMs} ms`,
        )
        controller.abort(error)
        reject(error)
      }, hardLoadTimeoutMs)
    })
    try {
      return await Promise.race([load(keys, { signal: controller.signal }), late])
    } finally {
      clearTimeout(timer)
    }
  }
}
