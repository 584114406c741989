import type { Clock } from '../../../core/clock.js'
import type { ImportProgress } from '../types.js'
import type { BodySource } from './source.js'

const INTERVAL_MS = 100

/** Reports the progress of an import, at most ten times a second. */
export class ProgressReport {
  rowsRead = 0
  rowsAcknowledged = 0
  private lastMs: number

  constructor(
    private readonly source: BodySource,
    private readonly clock: Clock,
    private readonly report: ((progress: ImportProgress) => void) | undefined,
  ) {
    this.lastMs = clock.now()
  }

  /** Reports if the last report is old enough. */
  tick(): void {
    const now = this.clock.now()
    if (now - this.lastMs < INTERVAL_MS) return
    this.lastMs = now
    this.tell()
  }

  tell(): void {
    const { rowsRead, rowsAcknowledged } = this
    this.report?.({ bytesRead: this.source.bytesRead, rowsRead, rowsAcknowledged })
  }
}
