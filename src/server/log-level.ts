import type { Logger } from 'pino'
import type { LogLevel } from './logger.js'

/** The level of the log while the server runs: set for a time, so that nobody forgets it on `debug`. */
export class LogLevelSwitch {
  readonly configured: string
  private timer: NodeJS.Timeout | undefined
  private until: number | undefined

  constructor(
    private readonly logger: Pick<Logger, 'level' | 'warn'>,
    private readonly now: () => number = Date.now,
  ) {
    this.configured = logger.level
  }

  read(): { level: string; configured: string; until?: string } {
    const { level } = this.logger
    const { configured, until } = this
    return { level, configured, ...(until !== undefined && { until: new Date(until).toISOString() }) }
  }

  set(level: LogLevel, forSeconds: number | undefined): void {
    clearTimeout(this.timer)
    // Told at a level that nobody hides, before it may be hidden.
    this.logger.warn({ level, forSeconds }, 'the log level was changed')
    this.logger.level = level
    this.until = undefined
    if (forSeconds === undefined) return
    this.until = this.now() + forSeconds * 1000
    this.timer = setTimeout(() => {
      this.logger.level = this.configured
      this.until = undefined
      this.logger.warn({ level: this.configured }, 'the log level is as configured again')
    }, forSeconds * 1000).unref()
  }

  close(): void {
    clearTimeout(this.timer)
  }
}
