import type { Clock } from '../../core/clock.js'
import { later } from '../../core/timers.js'
import { keyId, type Principal } from '../../guards/access/index.js'
import type { KeyRecord, StoredKeys } from '../../guards/access/port.js'
import { effectiveScopes } from '../../guards/access/scopes.js'
import type { BootstrapKey } from '../options.js'

/** A revocation must take effect everywhere within 5 s, so by default stored keys are trusted no longer than this. */
export const MAX_KEY_AGE_MS = 5_000
/** Operators need health and metrics during an outage, so the last known keys may read these for longer. */
export const OPERATOR_KEY_AGE_MS = 15 * 60_000
const REFRESH_TIMEOUT_MS = 1_500
/** When the store is back, the keys must be read soon. */
const RETRY_MS = 500
/** Reads per trusted period, so that one slow read does no harm. */
const READS_WITHIN_AGE = 2.5

/** Unlike the time of day, this clock never jumps. */
export const monotonicClock: Clock = { now: () => performance.now() }

/** A known key. Keys of the configuration are valid even while the store does not answer. */
export interface KnownKey extends Principal {
  readonly isConfigured: boolean
}

export interface RegistryOptions {
  /** Reads the keys of the store. */
  read: () => Promise<StoredKeys>
  bootstrap: () => readonly BootstrapKey[]
  refreshMs: number
  /** How long stored keys are trusted while the store does not answer. */
  maxStaleMs?: number
  clock?: Clock
  /** Called for the first of several failures in a row. */
  onError?: (error: unknown) => void
  /** Called with the names of stored keys that are refused because the configuration has keys with the same names. */
  onShadowed?: (names: readonly string[]) => void
}

/** The API keys that this process knows, refreshed every few seconds. */
export class KeyRegistry {
  /** Increments when the keys change: callers verified in an earlier epoch are verified again. */
  epoch = 0
  /**
   * Whether calls need a key. A server that has had keys stays locked when the last one is revoked: removing a
   * permission must never grant another. Only `catraca key unlock` unlocks it, if the configuration never had keys.
   */
  keyed = false

  private known: ReadonlyMap<string, KnownKey> = new Map()
  private stored: readonly KeyRecord[] = []
  private hasConfigured = false
  private readAt = Number.NEGATIVE_INFINITY
  private fingerprint = ''
  private timer: NodeJS.Timeout | undefined
  private stopped = false
  private isFailing = false
  private pending: Promise<void> | undefined
  private readonly clock: Clock
  private readonly maxStaleMs: number
  private readonly refreshMs: number

  constructor(private readonly options: RegistryOptions) {
    this.clock = options.clock ?? monotonicClock
    this.maxStaleMs = options.maxStaleMs ?? MAX_KEY_AGE_MS
    this.refreshMs = Math.min(options.refreshMs, this.maxStaleMs / READS_WITHIN_AGE)
  }

  /** Whether the keys of the store were ever read. */
  get wasRead(): boolean {
    return this.readAt !== Number.NEGATIVE_INFINITY
  }

  /** Whether there is any key. */
  get hasKeys(): boolean {
    return this.known.size > 0
  }

  isStale(): boolean {
    return this.clock.now() - this.readAt > this.maxStaleMs
  }

  /**
   * Finds a key by its hash, with one map lookup. The timing of the lookup depends on the hash and reveals nothing of
   * the key.
   */
  find(hash: string): KnownKey | undefined {
    return this.known.get(hash)
  }

  /** Whether the key is still valid, given the time since the last read of the store. */
  trusts({ isConfigured }: KnownKey, isOperating: boolean): boolean {
    if (isConfigured) return true
    const maxAgeMs = isOperating ? Math.max(this.maxStaleMs, OPERATOR_KEY_AGE_MS) : this.maxStaleMs
    return this.clock.now() - this.readAt <= maxAgeMs
  }

  /**
   * Reads the keys; throws when the store does not answer. Concurrent callers wait for a read that starts after their
   * call.
   */
  async refresh(): Promise<void> {
    while (this.pending !== undefined) await this.pending.catch(() => {})
    this.pending = this.read()
    try {
      await this.pending
    } finally {
      this.pending = undefined
    }
  }

  /** Called after this process created or revoked a key. The change is stored, so a failed read is not reported. */
  async changed(): Promise<void> {
    this.keyed = true
    await this.refresh().catch(() => {})
  }

  /** Refreshes in the background from now on. */
  start(): void {
    const delayMs = this.isFailing ? Math.min(this.refreshMs, RETRY_MS) : this.refreshMs
    this.timer = later(async () => {
      try {
        await this.refresh()
        this.isFailing = false
      } catch (error) {
        if (!this.isFailing) this.options.onError?.(error)
        this.isFailing = true
      }
      if (!this.stopped) this.start()
    }, delayMs).unref()
  }

  stop(): void {
    this.stopped = true
    clearTimeout(this.timer)
  }

  private async read(): Promise<void> {
    // The age counts from before the read, because the read may miss a revocation that happens during it.
    const startedAt = this.clock.now()
    // Keys of the configuration are updated even while the store does not answer.
    this.learn(this.options.bootstrap(), this.stored)
    const reading = this.options.read()
    // The first read has nothing to fall back on, so only the time limits of the engine end it.
    const { records, lock } = await (this.wasRead ? withTimeout(reading, REFRESH_TIMEOUT_MS) : reading)
    this.learn(this.options.bootstrap(), records)
    if (lock === 'locked') this.keyed = true
    else if (lock === 'lifted' && !this.hasConfigured) this.keyed = false
    this.readAt = startedAt
  }

  private learn(configured: readonly BootstrapKey[], stored: readonly KeyRecord[]): void {
    const facts = [configured, stored].map((keys) =>
      keys.map(({ name, scopes, hash }) => [name, scopes, hash]),
    )
    const fingerprint = JSON.stringify(facts)
    if (fingerprint === this.fingerprint) return
    this.fingerprint = fingerprint
    this.stored = stored
    if (configured.length > 0) this.hasConfigured = true
    if (configured.length + stored.length > 0) this.keyed = true
    // A name must mean one key: otherwise a caller could store another key with the same name and act under it.
    const names = new Set(configured.map(({ name }) => name))
    const shadowed = stored.filter(({ name }) => names.has(name))
    const known = new Map<string, KnownKey>()
    for (const key of stored) if (!names.has(key.name)) known.set(key.hash, knownKey(key, false))
    for (const key of configured) known.set(key.hash, knownKey(key, true))
    this.known = known
    this.epoch++
    if (shadowed.length > 0) this.options.onShadowed?.(shadowed.map(({ name }) => name))
  }
}

function knownKey(key: BootstrapKey, isConfigured: boolean): KnownKey {
  return { id: keyId(key), name: key.name, scopes: effectiveScopes(key.scopes), isConfigured }
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
