import type { Clock } from '../../core/clock.js'
import { every } from '../../core/timers.js'
import { Image } from './image.js'
import type { LogPosition, Revocation, TokenStore } from './port.js'
import type { TokenOptions } from './types.js'

type Report = (message: string, error: unknown) => void

/** Nobody has asked for so long: following costs, and whoever asks next is answered by the store meanwhile. */
const IDLE_AFTER_MS = 300_000

interface Followed {
  image: Image
  position: LogPosition
  /** When it was last known to hold everything, in milliseconds that only grow. */
  freshAtMs: number
}

/**
 * Keeps an image of all revocations: loads it, follows the log, and loads it again when the log has a gap. It begins
 * with the first check, and stops when there are none for a while: a process without checks asks the store for nothing.
 */
export class TokenFollower {
  private followed: Followed | undefined
  /** The last that was loaded, also while it is behind: what it holds was revoked. */
  private latest: Image | undefined
  /** Being loaded: it must not miss what this process revokes meanwhile. */
  private loading: Image | undefined
  private looking: Promise<void> | undefined
  private lookAgain = false
  private timer: NodeJS.Timeout | undefined
  private stopWatching: (() => void) | undefined
  /** From the start of the process on, as long as nothing was loaded. */
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

  /** Begins to follow, if it does not yet; settles when the image is loaded, or could not be. */
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

  /** The image for a check, if it is known to hold all but what others revoked just now. */
  fresh(): Image | undefined {
    const now = this.time()
    this.usedAtMs = now
    return this.freshAt(now)
  }

  /** Whether checks are answered from it. Asking this is no use of it. */
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

  /** What this process has revoked: it knows at once. */
  apply(revocations: readonly Revocation[]): void {
    this.latest?.apply(revocations)
    this.loading?.apply(revocations)
  }

  get image(): Image | undefined {
    return this.latest
  }

  /** How long ago memory was last known to hold everything; 0 as long as nothing is followed. */
  get lagMs(): number {
    return this.timer === undefined ? 0 : this.time() - this.lastFreshMs
  }

  async close(): Promise<void> {
    this.closed = true
    this.stop()
    await this.looking
  }

  /** One look at a time; whoever asks during one may know of an entry that it came too early for. */
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
        // A log that does not even reach back to its own end is tried again at the next turn, not at once.
      } while (!this.closed && (this.lookAgain || (this.followed === undefined && !isNew)))
      this.failed = false
    } catch (error) {
      // The store is asked meanwhile, and tells its callers; here once is enough.
      if (!this.failed && !this.closed) this.report('changes of revoked tokens cannot be read', error)
      this.failed = true
    }
  }

  /** The end of the log first: what is added while the rest is read stands behind it. */
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
      // In the same breath as it stops to be the one that is loaded, or a revocation could fall between both.
      if (followed !== undefined) this.latest = image
      return followed
    } finally {
      this.loading = undefined
    }
  }

  /** Undefined: it cannot be mended. It answers no longer, and is loaded anew. */
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
