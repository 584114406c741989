import { isCatracaError } from '../../../core/errors.js'
import { ImportStopped } from '../../../guards/allowlist/import/stored-import.js'
import type { ImportSession } from '../../../guards/allowlist/port.js'

/** How long to retry, if the engine is slower than the lease. */
const PATIENCE_MS = 60_000

/**
 * Lets an import write rows only while it certainly holds its lease: they are written without a condition on META or
 * the record, and a late one would belong to another import.
 */
export class ImportLease {
  private heldUntil: number
  private readonly startedAt = performance.now()

  constructor(
    private readonly session: Pick<ImportSession, 'leaseMs'>,
    private readonly now: number,
    heldUntil: number,
    private readonly renew: (now: number) => Promise<boolean>,
  ) {
    this.heldUntil = heldUntil
  }

  /**
   * Executes a repeatable write within the time that the lease leaves, and repeats it if that was too short.
   * `repeated`: an earlier attempt has an unknown outcome. Throws `ImportStopped` if the lease is lost.
   */
  async within<T>(write: (timeoutMs: number) => Promise<T>): Promise<{ value: T; repeated: boolean }> {
    const endsAt = performance.now() + PATIENCE_MS
    for (let repeated = false; ; repeated = true) {
      try {
        return { value: await write(await this.room()), repeated }
      } catch (error) {
        const isSlow = isCatracaError(error, 'UNKNOWN_OUTCOME') || isCatracaError(error, 'ENGINE_UNAVAILABLE')
        if (!isSlow || performance.now() > endsAt) throw error
      }
    }
  }

  private async room(): Promise<number> {
    const { leaseMs } = this.session
    const now = this.now + Math.floor(performance.now() - this.startedAt)
    if (this.heldUntil - now < leaseMs / 2) {
      if (!(await this.renew(now))) throw new ImportStopped('lost')
      this.heldUntil = now + leaseMs
    }
    return this.heldUntil - now
  }
}
