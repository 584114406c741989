import type { Clock } from '../../../core/clock.js'
import { every } from '../../../core/timers.js'
import type { BulkStore, ImportSession } from '../port.js'
import { ImportStop } from './stop.js'

/** Renews the lease of an import while its input or the engine is slow. */
export class LeaseRenewal {
  private readonly timer: NodeJS.Timeout
  private renewing: Promise<void> | undefined
  private heldAtMs: number

  constructor(
    private readonly bulk: BulkStore,
    private readonly session: ImportSession,
    private readonly clock: Clock,
    private readonly stopImport: (reason: unknown) => void,
  ) {
    this.heldAtMs = clock.now()
    this.timer = every(() => {
      this.renewing ??= this.renew().finally(() => {
        this.renewing = undefined
      })
    }, session.leaseMs / 3)
  }

  private async renew(): Promise<void> {
    const now = this.clock.now()
    try {
      if (await this.bulk.renew(this.session, undefined, now)) this.heldAtMs = now
      else this.stopImport(new ImportStop('lost'))
    } catch (error) {
      // A failure does no harm while the lease lasts. After that, another owner may be at work.
      if (this.clock.now() - this.heldAtMs >= this.session.leaseMs) this.stopImport(error)
    }
  }

  /** After this resolves, nothing is renewed. */
  async stop(): Promise<void> {
    clearInterval(this.timer)
    await this.renewing
  }
}
