import { type FollowOptions, LogFollower, type NumberedLog } from '../../core/numbered-log.js'
import type { CacheNotice } from './port.js'

/** What an instance publishes. */
export type ChangeNotice = Exclude<CacheNotice, { kind: 'lost' | 'resumed' }>
type Listener = (notice: CacheNotice) => void

/** A feed that has not answered for this long may have missed invalidations. */
const FEED_TIMEOUT_MS = 2000

/** Where an engine keeps the invalidations of all instances. */
interface NoticeLog<Entry> extends Pick<NumberedLog<Entry>, 'head' | 'read'> {
  /** The notices in an entry. None if this instance wrote it. */
  noticesOf(entry: Entry): readonly ChangeNotice[]
}

/** Tells listeners what other instances changed. The log is followed while there are listeners. */
export class NoticeFeed<Entry> {
  readonly follower: LogFollower<Entry>
  private readonly listeners = new Set<Listener>()

  constructor({ noticesOf, ...log }: NoticeLog<Entry>, options: FollowOptions) {
    const onEntry = (entry: Entry) => {
      for (const notice of noticesOf(entry)) this.tell(notice)
    }
    const onLost = () => this.tell({ kind: 'lost' })
    const onResumed = () => this.tell({ kind: 'resumed' })
    this.follower = new LogFollower<Entry>(
      { ...log, onEntry, onLost, onResumed },
      { ...options, silentAfterMs: FEED_TIMEOUT_MS },
    )
  }

  watch(listener: Listener): () => void {
    this.follower.start().catch(() => {})
    this.listeners.add(listener)
    if (this.follower.isLost) listener({ kind: 'lost' })
    return () => {
      if (this.listeners.delete(listener) && this.listeners.size === 0) void this.follower.stop()
    }
  }

  async close(): Promise<void> {
    this.listeners.clear()
    await this.follower.stop()
  }

  private tell(notice: CacheNotice): void {
    for (const listener of this.listeners) listener(notice)
  }
}
