import type { Clock } from '../../core/clock.js'
import { isCatracaError } from '../../core/errors.js'
import { later } from '../../core/timers.js'
import { keyId, type Principal } from '../../guards/access/index.js'
import type { KeptKeys } from '../../guards/access/kept-keys.js'
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
/** A write for each key and hour, however many servers use it. */
const USE_EVERY_MS = 3_600_000

/** Unlike the time of day, this clock never jumps. */
const monotonicClock: Clock = { now: () => performance.now() }

/** A known key. Keys of the configuration are valid even while the store does not answer. */
export interface KnownKey extends Principal {
  readonly isConfigured: boolean
  /** Since the last time that uses were recorded. */
  isUsed: boolean
}

interface RegistryOptions {
  /** Reads the keys of the store. */
  read: () => Promise<StoredKeys>
  bootstrap: () => readonly BootstrapKey[]
  refreshMs: number
  /** How long stored keys are trusted while the store does not answer. */
  maxStaleMs?: number
  /** Callers need a key or a session although there is no key. */
  isLocked?: boolean
  /** Keeps the keys of the store on disk, for a start while it is away. */
  kept?: Pick<KeptKeys, 'save' | 'load'> | undefined
  clock?: Clock
  /** Expiry is judged by the clock of the store's users, which may be set by hand; the age of a read is not. */
  now?: () => number
  /** Records that a stored key was used. */
  recordUse?: (key: KeyRecord) => Promise<unknown>
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
    this.keyed = options.isLocked ?? false
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

  /** Reads the keys for the first time. While the store is away, those that are kept on disk, as old as they are. */
  async open(): Promise<void> {
    const { kept } = this.options
    try {
      await this.refresh()
    } catch (error) {
      if (kept === undefined || !isCatracaError(error, 'ENGINE_UNAVAILABLE')) throw error
      const found = await kept.load()
      if (found !== undefined) this.take(found.keys, this.clock.now() - found.ageMs)
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
        // The last use is for people to look at; without it the next one is recorded.
        await this.recordUses().catch(() => {})
      } catch (error) {
        if (!this.isFailing) this.options.onError?.(error)
        this.isFailing = true
      }
      if (!this.stopped) this.start()
    }, delayMs).unref()
  }

  /** Writes down which keys were used. Others may have done it within the hour. */
  private async recordUses(): Promise<void> {
    const { recordUse, now = Date.now } = this.options
    if (recordUse === undefined) return
    for (const record of this.stored) {
      const key = this.known.get(record.hash)
      if (key === undefined || key.isConfigured || !key.isUsed) continue
      key.isUsed = false
      if (now() - (record.usedAt ?? 0) >= USE_EVERY_MS) await recordUse(record)
    }
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
    this.take({ records, lock }, startedAt)
    void this.options.kept?.save({ records, lock })
  }

  private take({ records, lock }: StoredKeys, readAt: number): void {
    this.learn(this.options.bootstrap(), records)
    if (lock === 'locked') this.keyed = true
    else if (lock === 'lifted' && !this.hasConfigured) this.keyed = this.options.isLocked ?? false
    this.readAt = readAt
  }

  private learn(configured: readonly BootstrapKey[], records: readonly KeyRecord[]): void {
    const { now = Date.now } = this.options
    this.stored = records
    const stored = records.filter(({ expiresAt = Number.POSITIVE_INFINITY }) => now() < expiresAt)
    const facts = [configured, stored].map((keys) =>
      keys.map(({ name, scopes, hash }) => [name, scopes, hash]),
    )
    const fingerprint = JSON.stringify(facts)
    if (fingerprint === this.fingerprint) return
    this.fingerprint = fingerprint
    if (configured.length > 0) this.hasConfigured = true
    if (configured.length + records.length > 0) this.keyed = true
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
  return { id: keyId(key), name: key.name, scopes: effectiveScopes(key.scopes), isConfigured, isUsed: false }
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
