import type { Logger } from 'pino'
import { later } from '../../core/timers.js'
import type { LogLevel } from './logger.js'

/** The level of the log while the server runs: set for a time, so that nobody forgets it on `debug`. */
export class LogLevelSwitch {
  readonly configured: string
  private timer: NodeJS.Timeout | undefined
  private until: number | undefined

  constructor(
    private readonly logger: Pick<Logger, 'level' | 'warn' | 'isLevelEnabled'>,
    private readonly now: () => number = Date.now,
  ) {
    this.configured = logger.level
  }

  read(): { level: string; configured: string; until?: string } {
    const { level } = this.logger
    const { configured, until } = this
    return { level, configured, ...(until !== undefined && { until: new Date(until).toISOString() }) }
  }

  /** `key`: the name of that of whoever wants it so. */
  set(level: LogLevel, forSeconds: number | undefined, key?: string): void {
    clearTimeout(this.timer)
    this.change(level, { forSeconds, key }, 'the log level was changed')
    this.until = undefined
    if (forSeconds === undefined) return
    this.until = this.now() + forSeconds * 1000
    this.timer = later(() => {
      this.until = undefined
      this.change(this.configured, {}, 'the log level is back to the configured one')
    }, forSeconds * 1000).unref()
  }

  /** Told before it may be hidden by the new level, or else when the old one hides it no longer. */
  private change(
    level: string,
    facts: { forSeconds?: number | undefined; key?: string | undefined },
    message: string,
  ): void {
    // Not as `level`, which every line has: the last of two would count.
    const tell = () => this.logger.warn({ logLevel: level, ...facts }, message)
    const wasSeen = this.logger.isLevelEnabled('warn')
    if (wasSeen) tell()
    this.logger.level = level
    if (!wasSeen) tell()
  }

  close(): void {
    clearTimeout(this.timer)
  }
}
