import type { Logger } from 'pino'
import { later } from '../../core/timers.js'
import type { LoggedCaller } from './logged-caller.js'
import type { LogLevel } from './logger.js'

/**
 * Changes the log level while the server runs. A change can be limited in time, so that `debug` is not left on by
 * mistake.
 */
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

  set(level: LogLevel, forSeconds: number | undefined, caller: LoggedCaller = {}): void {
    clearTimeout(this.timer)
    this.change(level, { forSeconds, ...caller }, 'the log level was changed')
    this.until = undefined
    if (forSeconds === undefined) return
    this.until = this.now() + forSeconds * 1000
    this.timer = later(() => {
      this.until = undefined
      this.change(this.configured, {}, 'the log level is back to the configured one')
    }, forSeconds * 1000).unref()
  }

  /** Logs the change before it, or after it when the old level hides warnings. */
  private change(
    level: string,
    facts: LoggedCaller & { forSeconds?: number | undefined },
    message: string,
  ): void {
    // Not named `level`: every line has that field already, and the second of two would win.
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
