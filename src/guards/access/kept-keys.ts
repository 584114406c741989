import { join } from 'node:path'
import { readChecked, writeChecked } from '../../core/checked-file.js'
import type { Clock } from '../../core/clock.js'
import type { StoredKeys } from './port.js'

/** Unchanged keys are written again after this time, because their age counts. */
const SAVE_EVERY_MS = 30_000
/** Clocks of one machine may differ by so much between two starts, without being wrong. */
const CLOCK_SLACK_MS = 5000

interface Kept {
  format: 1
  /** Keys of another store must never admit anybody. */
  store: string
  readAt: number
  keys: StoredKeys
}

interface KeptKeysParts {
  directory: string
  store: string
  /** False: nothing is written or read. */
  isEnabled: boolean
  clock: Clock
  report(message: string, error: unknown): void
}

/** The hashes of API keys in a file, for a server that starts while its store is away. */
export class KeptKeys {
  private last = ''
  private savedAtMs = Number.NEGATIVE_INFINITY
  private saving: Promise<void> | undefined

  constructor(private readonly parts: KeptKeysParts) {}

  private get path(): string {
    return join(this.parts.directory, 'keys')
  }

  /** Never rejects, and may be called after every read. */
  async save(keys: StoredKeys): Promise<void> {
    const { isEnabled, store, clock, report } = this.parts
    const text = JSON.stringify(keys)
    const isOld = performance.now() - this.savedAtMs > SAVE_EVERY_MS
    if (!isEnabled || this.saving !== undefined || (text === this.last && !isOld)) return
    const kept: Kept = { format: 1, store, readAt: clock.now(), keys }
    this.saving = writeChecked(this.path, Buffer.from(JSON.stringify(kept)))
    try {
      await this.saving
      this.last = text
    } catch (error) {
      report('API keys could not be copied to disk', error)
    } finally {
      this.savedAtMs = performance.now()
      this.saving = undefined
    }
  }

  /** The keys and how long ago they were read. Undefined: none are kept that can be used. */
  async load(): Promise<{ keys: StoredKeys; ageMs: number } | undefined> {
    const { isEnabled, store, clock, report } = this.parts
    if (!isEnabled) return undefined
    try {
      const bytes = await readChecked(this.path)
      if (bytes === undefined) return undefined
      const kept = JSON.parse(bytes.toString('utf8')) as Kept
      const ageMs = clock.now() - kept.readAt
      if (kept.format !== 1 || kept.store !== store || ageMs < -CLOCK_SLACK_MS) return undefined
      return { keys: kept.keys, ageMs: Math.max(0, ageMs) }
    } catch (error) {
      report('the copy of API keys on disk is not used', error)
      return undefined
    }
  }

  settled(): Promise<void> {
    return this.saving?.catch(() => {}) ?? Promise.resolve()
  }
}
