import { type Clock, systemClock } from '../../core/clock.js'
import { every } from '../../core/timers.js'
import type { ImportProgress } from '../../guards/allowlist/types.js'
import { count, duration, note } from './print.js'

/** Shows the progress of an import. */
interface ProgressView {
  update(progress: ImportProgress): void
  stop(): void
}

const PLAIN_LINE_EVERY_MS = 2000

export async function startProgress(totalBytes: number | undefined, enabled: boolean): Promise<ProgressView> {
  if (!enabled) return { update: () => {}, stop: () => {} }
  const pace = new Pace(systemClock)
  if (process.stderr.isTTY && totalBytes !== undefined && totalBytes > 0) return startBar(totalBytes, pace)
  return startLines(totalBytes, pace)
}

async function startBar(totalBytes: number, pace: Pace): Promise<ProgressView> {
  const { default: cliProgress } = await import('cli-progress')
  const bar = new cliProgress.SingleBar(
    {
      format: ' {bar} {percentage}% | {rows} rows | {rate} rows/s | {left} left',
      stream: process.stderr,
      hideCursor: true,
      fps: 5,
    },
    cliProgress.Presets.shades_classic,
  )
  const show = (progress: ImportProgress) => {
    const { doneBytes, rowsPerSecond, leftMs } = pace.of(progress, totalBytes)
    const left = leftMs === undefined ? '?' : duration(leftMs)
    bar.update(Math.min(doneBytes, totalBytes), {
      rows: count(progress.rowsRead),
      rate: count(rowsPerSecond),
      left,
    })
  }
  bar.start(totalBytes, 0)
  show(NOTHING_YET)
  return { update: show, stop: () => bar.stop() }
}

function startLines(totalBytes: number | undefined, pace: Pace): ProgressView {
  let last = NOTHING_YET
  pace.of(last, totalBytes)
  const timer = every(() => {
    const { rowsPerSecond, leftMs } = pace.of(last, totalBytes)
    const left = leftMs === undefined ? '' : `, ${duration(leftMs)} left`
    const stored = `${count(last.rowsAcknowledged)} stored`
    note(`${count(last.rowsRead)} rows read, ${stored}, ${count(rowsPerSecond)} rows/s${left}`)
  }, PLAIN_LINE_EVERY_MS)
  timer.unref()
  return {
    update: (progress) => {
      last = progress
    },
    stop: () => clearInterval(timer),
  }
}

const NOTHING_YET: ImportProgress = { bytesRead: 0, rowsRead: 0, rowsAcknowledged: 0 }
/** Long enough for several rounds of reading and storing. */
const WINDOW_MS = 60_000
const SAMPLE_EVERY_MS = 200

/**
 * The speed of an import. A row is half done when it is read and done when it is stored, because the two alternate
 * and cost about the same. Only the last minute counts: a resumed import skips stored rows quickly.
 */
export class Pace {
  private samples: { at: number; rows: number; bytes: number }[] = []

  constructor(private readonly clock: Clock) {}

  of(
    { bytesRead, rowsRead, rowsAcknowledged }: ImportProgress,
    totalBytes: number | undefined,
  ): { doneBytes: number; rowsPerSecond: number; leftMs: number | undefined } {
    const now = this.clock.now()
    const rows = (rowsRead + rowsAcknowledged) / 2
    const bytes = rowsRead === 0 ? bytesRead / 2 : bytesRead * (rows / rowsRead)
    this.samples = this.samples.filter(({ at }) => at >= now - WINDOW_MS)
    const last = this.samples.at(-1)
    if (last === undefined || now - last.at >= SAMPLE_EVERY_MS) this.samples.push({ at: now, rows, bytes })
    const first = this.samples[0]!
    const elapsedMs = now - first.at
    if (elapsedMs === 0) return { doneBytes: bytes, rowsPerSecond: 0, leftMs: undefined }
    const bytesPerMs = (bytes - first.bytes) / elapsedMs
    return {
      doneBytes: bytes,
      rowsPerSecond: Math.round(((rows - first.rows) * 1000) / elapsedMs),
      leftMs: totalBytes === undefined || bytesPerMs <= 0 ? undefined : (totalBytes - bytes) / bytesPerMs,
    }
  }
}
