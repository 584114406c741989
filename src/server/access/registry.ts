import type { KeyRecord } from '../../access/port.js'
import type { Clock } from '../../clock.js'
import { later } from '../../timers.js'
import type { BootstrapKey } from '../options.js'

/** Revocation must be seen within 5 s everywhere, so records older than this are not trusted. */
export const MAX_KEY_AGE_MS = 5_000
const REFRESH_TIMEOUT_MS = 1_500

/** Never jumps, unlike the time of day. */
export const monotonicClock: Clock = { now: () => performance.now() }

export interface RegistryOptions {
  /** Reads the records of the store. */
  read: () => Promise<KeyRecord[]>
  bootstrap: () => readonly BootstrapKey[]
  refreshMs: number
  clock?: Clock
  onError?: (error: unknown) => void
}

/** The API keys as this process knows them, read again every few seconds. */
export class KeyRegistry {
  /** Grows whenever the records change: what was verified in an earlier epoch is verified anew. */
  epoch = 0
  records: readonly KeyRecord[] = []
  /** Those of the configuration alone: they hold also while the store does not answer, which cannot revoke them. */
  configured: readonly KeyRecord[] = []
  /**
   * Whether keys are needed. A server that has had keys stays locked when the last one is revoked:
   * taking a right away must never open a door.
   */
  keyed = false

  private readAt = Number.NEGATIVE_INFINITY
  private fingerprint = ''
  private timer: NodeJS.Timeout | undefined
  private stopped = false
  private pending: Promise<void> | undefined
  private readonly clock: Clock

  constructor(private readonly options: RegistryOptions) {
    this.clock = options.clock ?? monotonicClock
  }

  isStale(): boolean {
    return this.clock.now() - this.readAt > MAX_KEY_AGE_MS
  }

  /** Reads the records; throws when the store does not answer. Concurrent callers wait for a read that begins after their call. */
  async refresh(): Promise<void> {
    while (this.pending !== undefined) await this.pending.catch(() => {})
    this.pending = this.read()
    try {
      await this.pending
    } finally {
      this.pending = undefined
    }
  }

  /** Refreshes from now on in the background. */
  start(): void {
    this.timer = later(async () => {
      try {
        await this.refresh()
      } catch (error) {
        this.options.onError?.(error)
      }
      if (!this.stopped) this.start()
    }, this.options.refreshMs).unref()
  }

  stop(): void {
    this.stopped = true
    clearTimeout(this.timer)
  }

  private async read(): Promise<void> {
    // Age counts from before the read: a revocation during it may be missed by it.
    const startedAt = this.clock.now()
    this.configured = this.options.bootstrap().map((key) => ({ ...key, createdAt: 0 }))
    const stored = await withTimeout(this.options.read(), REFRESH_TIMEOUT_MS)
    const records = [...this.configured, ...stored]
    const fingerprint = JSON.stringify(records.map(({ name, scopes, hash }) => [name, scopes, hash]))
    if (fingerprint !== this.fingerprint) {
      this.fingerprint = fingerprint
      this.records = records
      this.epoch++
    }
    if (records.length > 0) this.keyed = true
    this.readAt = startedAt
  }
}

async function withTimeout<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = later(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
