import { fstatSync, writeSync } from 'node:fs'
import { type LevelWithSilent, type Logger, pino } from 'pino'

const FLUSH_EVERY_MS = 500
const FLUSH_BYTES = 16_000
const STANDARD_OUTPUT = 1

export type LogLevel = LevelWithSilent

/**
 * Fields that are never written to the log. No code passes them today; this protects against a whole request or body
 * that is logged by mistake. The names are those of the API and of the libraries.
 */
const SECRETS = ['authorization', 'password', 'pepper', 'code', 'address', 'token', 'key', 'cert', 'secret']
const HOLDERS = ['req.headers', 'request.headers', 'headers', 'body', 'req.body', 'request.body', 'options']

export const REDACTED: readonly string[] = [
  ...HOLDERS.flatMap((holder) => SECRETS.map((name) => `${holder}.${name}`)),
  'authorization',
  'password',
  'pepper',
  'leaseSecret',
]

/**
 * Writes JSON lines to standard output. Lines are buffered and written in blocks: one write per line would cost a
 * busy server more than the requests themselves. The buffer is flushed when the process exits.
 */
export function createLogger(level: LogLevel = 'info'): Logger {
  const destination = pino.destination({ sync: false, minLength: FLUSH_BYTES, periodicFlush: FLUSH_EVERY_MS })
  endWithoutReader(destination)
  return pino({ level, redact: [...REDACTED] }, destination)
}

/** At the exit it would try for ever to write its lines to a pipe that nobody reads, and the process would never end. */
function endWithoutReader(destination: ReturnType<typeof pino.destination>): void {
  const write = destination.write.bind(destination)
  const flushSync = destination.flushSync.bind(destination)
  let hasLines = false
  destination.write = (line) => {
    hasLines = true
    return write(line)
  }
  destination.on('drain', () => {
    hasLines = false
  })
  destination.flushSync = () => {
    if (hasLines && isRead(STANDARD_OUTPUT)) flushSync()
  }
}

/** Whether a pipe has a reader shows only when something is written: a space, which JSON takes between two lines. */
function isRead(descriptor: number): boolean {
  try {
    const kind = fstatSync(descriptor)
    if (kind.isFIFO() || kind.isSocket()) writeSync(descriptor, ' ')
    return true
  } catch (error) {
    // A full pipe has a reader, who is slow.
    return (error as NodeJS.ErrnoException).code === 'EAGAIN'
  }
}
