import type { Clock } from '../../core/clock.js'
import { later } from '../../core/timers.js'
import { keyId, type Principal } from '../../guards/access/index.js'
import type { KeyRecord, StoredKeys } from '../../guards/access/port.js'
import { effectiveScopes } from '../../guards/access/scopes.js'
import type { BootstrapKey } from '../options.js'

/** Revocation must be seen within 5 s everywhere: unless told otherwise, stored keys are trusted no longer than this. */
export const MAX_KEY_AGE_MS = 5_000
/** Health and metrics tell of an outage: those who watch it may read them with the keys that were last known. */
export const OPERATOR_KEY_AGE_MS = 15 * 60_000
const REFRESH_TIMEOUT_MS = 1_500
/** A store that comes back must not be waited for any longer than it was away. */
const RETRY_MS = 500
/** Reads within the time that keys are trusted, so that one slow read does no harm. */
const READS_WITHIN_AGE = 2.5

/** Never jumps, unlike the time of day. */
export const monotonicClock: Clock = { now: () => performance.now() }

/** A key that is known, and whether it is one of the configuration, which holds also while the store is silent. */
export interface KnownKey extends Principal {
  readonly isConfigured: boolean
}

export interface RegistryOptions {
  /** Reads what the store holds. */
  read: () => Promise<StoredKeys>
  bootstrap: () => readonly BootstrapKey[]
  refreshMs: number
  /** How long stored keys are trusted while the store does not answer. */
  maxStaleMs?: number
  clock?: Clock
  /** Told of the first failure of a row. */
  onError?: (error: unknown) => void
  /** Told of stored keys that are refused because the configuration has others of their names. */
  onShadowed?: (names: readonly string[]) => void
}

/** The API keys as this process knows them, read again every few seconds. */
export class KeyRegistry {
  /** Grows whenever the keys change: what was verified in an earlier epoch is verified anew. */
  epoch = 0
  /**
   * Whether keys are needed. A server that has had keys stays locked when the last one is revoked: taking a right away
   * must never open a door. Only `catraca key unlock` does, where the configuration never had any.
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

  /** Whether the store has told of its keys at all. */
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

  /** By the hash of a key: one look-up, however many there are. That its time depends on the hash tells nothing of a key. */
  find(hash: string): KnownKey | undefined {
    return this.known.get(hash)
  }

  /** Whether the key still counts, after the time since the store was last read. */
  trusts({ isConfigured }: KnownKey, isOperating: boolean): boolean {
    if (isConfigured) return true
    const maxAgeMs = isOperating ? Math.max(this.maxStaleMs, OPERATOR_KEY_AGE_MS) : this.maxStaleMs
    return this.clock.now() - this.readAt <= maxAgeMs
  }

  /** Reads the keys; throws when the store does not answer. Concurrent callers wait for a read that begins after their call. */
  async refresh(): Promise<void> {
    while (this.pending !== undefined) await this.pending.catch(() => {})
    this.pending = this.read()
    try {
      await this.pending
    } finally {
      this.pending = undefined
    }
  }

  /** After a key was made or revoked here. That stands, so a store that falls silent now is no failure of it. */
  async changed(): Promise<void> {
    this.keyed = true
    await this.refresh().catch(() => {})
  }

  /** Refreshes from now on in the background. */
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
    // Age counts from before the read: a revocation during it may be missed by it.
    const startedAt = this.clock.now()
    // Keys of the configuration come and go also while the store is silent.
    this.learn(this.options.bootstrap(), this.stored)
    const { records, lock } = await withTimeout(this.options.read(), REFRESH_TIMEOUT_MS)
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
    // A name means one key: whoever could store another of the same name would act under it.
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
