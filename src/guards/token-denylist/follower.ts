import type { Clock } from '../../core/clock.js'
import { every } from '../../core/timers.js'
import { Image } from './image.js'
import type { LogPosition, Revocation, TokenStore } from './port.js'
import type { TokenOptions } from './types.js'

type Report = (message: string, error: unknown) => void

/**
 * After this long without checks, following stops to save work. The next checks query
 * the store until the image is loaded again.
 */
const IDLE_AFTER_MS = 300_000

interface Followed {
  image: Image
  position: LogPosition
  /** When the image was last known to be complete, in monotonic milliseconds. */
  freshAtMs: number
}

/**
 * Maintains an image of all revocations: loads it, follows the log, and loads it again when the log has a gap. It
 * starts with the first check and stops when there are none for a while, so a process without checks does not
 * query the store.
 */
export class TokenFollower {
  private followed: Followed | undefined
  /** The last loaded image, even while it is behind: a revocation in it is always valid. */
  private latest: Image | undefined
  /** The image being loaded. It must also receive what this process revokes meanwhile. */
  private loading: Image | undefined
  private looking: Promise<void> | undefined
  private lookAgain = false
  private timer: NodeJS.Timeout | undefined
  private stopWatching: (() => void) | undefined
  /** 0, the start of the process, until the first load. */
  private lastFreshMs = 0
  private usedAtMs = 0
  private failed = false
  private closed = false

  constructor(
    private readonly store: TokenStore,
    private readonly clock: Clock,
    private readonly options: TokenOptions,
    private readonly report: Report,
    private readonly time: () => number = () => performance.now(),
  ) {}

  /** Starts following, if it has not started yet. Resolves when the image is loaded or the load has failed. */
  start(): Promise<void> {
    if (this.timer === undefined && !this.closed && this.options.compareIntervalMs > 0) {
      this.usedAtMs = this.time()
      this.timer = every(() => this.tick(), this.options.compareIntervalMs)
      this.timer.unref()
      this.stopWatching = this.store.watch(() => void this.look())
      return this.look()
    }
    return this.looking ?? Promise.resolve()
  }

  /** The image for a check, if it is complete except for the latest revocations of other processes. */
  fresh(): Image | undefined {
    const now = this.time()
    this.usedAtMs = now
    return this.freshAt(now)
  }

  /** Whether checks are answered from memory. Reading this does not count as use. */
  get isFresh(): boolean {
    return this.freshAt(this.time()) !== undefined
  }

  private freshAt(now: number): Image | undefined {
    const { followed } = this
    if (followed === undefined || this.timer === undefined) return undefined
    return now - followed.freshAtMs <= this.options.staleAfterMs ? followed.image : undefined
  }

  private tick(): void {
    if (this.time() - this.usedAtMs > IDLE_AFTER_MS) {
      this.stop()
      return
    }
    this.latest?.sweep(this.clock.now())
    void this.look()
  }

  private stop(): void {
    clearInterval(this.timer)
    this.timer = undefined
    this.stopWatching?.()
  }

  /** Applies revocations of this process at once. */
  apply(revocations: readonly Revocation[]): void {
    this.latest?.apply(revocations)
    this.loading?.apply(revocations)
  }

  get image(): Image | undefined {
    return this.latest
  }

  /** Time since memory was last known to be complete. 0 while the log is not followed. */
  get lagMs(): number {
    return this.timer === undefined ? 0 : this.time() - this.lastFreshMs
  }

  async close(): Promise<void> {
    this.closed = true
    this.stop()
    await this.looking
  }

  /** One read at a time. A call during a read may know of a newer entry, so the read is repeated. */
  private look(): Promise<void> {
    if (this.looking !== undefined) {
      this.lookAgain = true
      return this.looking
    }
    this.looking = this.lookUntilDone().finally(() => {
      this.looking = undefined
    })
    return this.looking
  }

  private async lookUntilDone(): Promise<void> {
    try {
      let isNew = false
      do {
        this.lookAgain = false
        isNew = this.followed === undefined
        this.followed = isNew ? await this.load() : await this.advance(this.followed!)
        // If even a fresh load finds a gap, try again at the next interval, not at once.
      } while (!this.closed && (this.lookAgain || (this.followed === undefined && !isNew)))
      this.failed = false
    } catch (error) {
      // The store is asked meanwhile, and tells its callers; here once is enough.
      if (!this.failed && !this.closed) this.report('changes of revoked tokens cannot be read', error)
      this.failed = true
    }
  }

  /** Reads the end of the log first: entries added during the load come after it. */
  private async load(): Promise<Followed | undefined> {
    const image = new Image()
    this.loading = image
    try {
      const position = await this.store.position()
      for await (const part of this.store.all(this.clock.now())) {
        image.apply(part)
        if (this.closed) break
        await new Promise((resolve) => setImmediate(resolve))
      }
      const followed = await this.advance({ image, position, freshAtMs: Number.NEGATIVE_INFINITY })
      // Assigned in the same tick in which `loading` is cleared. Otherwise a revocation could miss both images.
      if (followed !== undefined) this.latest = image
      return followed
    } finally {
      this.loading = undefined
    }
  }

  /** Undefined: the log has a gap. The image is no longer used, and is loaded again. */
  private async advance(followed: Followed): Promise<Followed | undefined> {
    let { position } = followed
    while (!this.closed) {
      const askedAtMs = this.time()
      const part = await this.store.read(position)
      if (part === 'gap') {
        this.followed = undefined
        return undefined
      }
      followed.image.apply(part.revocations)
      position = part.position
      followed.position = position
      if (part.more) continue
      followed.freshAtMs = askedAtMs
      this.lastFreshMs = askedAtMs
      break
    }
    return followed
  }
}
