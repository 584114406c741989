import { every } from '../../../core/timers.js'
import { type FlagState, type Flags, isSameState } from './flags.js'

const COMPARE_EVERY_MS = 1_000
/** Flags that are watched: those that were evaluated for the first time last. */
const MAX_WATCHED = 1_000

export interface FlagEvents {
  changed(keys: string[]): void
  /** The store does not answer, or memory is behind it. */
  stale(): void
  fresh(): void
}

/** Compares the flags that were evaluated each second with what they were, and tells of changes. */
export class FlagWatch {
  private readonly known = new Map<string, FlagState | undefined>()
  private readonly timer: NodeJS.Timeout
  private isComparing = false
  private isStale = false

  constructor(
    private readonly flags: Flags,
    private readonly events: FlagEvents,
  ) {
    this.timer = every(() => this.compare(), COMPARE_EVERY_MS).unref()
  }

  /** Called before each evaluation: what changes after it must be told. */
  watch(key: string): void {
    if (this.known.has(key)) return
    if (this.known.size >= MAX_WATCHED) this.known.delete(this.known.keys().next().value!)
    this.known.set(key, undefined)
    void this.flags.state(key).then((state) => {
      if (this.known.has(key) && !state.isStale) this.known.set(key, state)
    })
  }

  close(): void {
    clearInterval(this.timer)
  }

  private async compare(): Promise<void> {
    if (this.isComparing) return
    this.isComparing = true
    try {
      const changed: string[] = []
      let isStale = false
      for (const [key, before] of [...this.known]) {
        const state = await this.flags.state(key)
        isStale ||= state.isStale
        // Of a list that cannot be read nothing is known.
        if (state.isStale) continue
        if (before !== undefined && !isSameState(state, before)) changed.push(key)
        if (this.known.has(key)) this.known.set(key, state)
      }
      this.tell(isStale, changed)
    } finally {
      this.isComparing = false
    }
  }

  private tell(isStale: boolean, changed: string[]): void {
    if (isStale && !this.isStale) this.events.stale()
    if (!isStale && this.isStale) this.events.fresh()
    this.isStale = isStale
    if (changed.length > 0) this.events.changed(changed)
  }
}
