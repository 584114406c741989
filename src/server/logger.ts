import { type Level, type Logger, pino } from 'pino'

const FLUSH_EVERY_MS = 500
const FLUSH_BYTES = 16_000

/**
 * JSON lines on standard output. They are gathered and written by the block: a write per line would cost a
 * busy server more than the requests that it tells of. What is gathered is written out when the process exits.
 */
export function createLogger(level: Level | 'silent' = 'info'): Logger {
  const destination = pino.destination({ sync: false, minLength: FLUSH_BYTES, periodicFlush: FLUSH_EVERY_MS })
  return pino({ level }, destination)
}
