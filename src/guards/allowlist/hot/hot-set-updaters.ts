import { every } from '../../../core/timers.js'
import { HotSetUpdater, type HotSetUpdaterParts } from './hot-set-updater.js'

interface HotSetUpdatersParts extends HotSetUpdaterParts {
  listIds: Iterable<string>
  /** How often each set is updated, even without notifications. */
  intervalMs: number
}

interface Kept {
  updater: HotSetUpdater
  running: Promise<void> | undefined
  again: boolean
  isFailing: boolean
}

/** Updates every set at intervals, and at once after a change. */
export class HotSetUpdaters {
  private readonly kept = new Map<string, Kept>()
  private readonly timer: NodeJS.Timeout
  private readonly watch: { stop(): void }
  private closed = false

  constructor(private readonly parts: HotSetUpdatersParts) {
    for (const listId of parts.listIds) {
      const updater = new HotSetUpdater(listId, parts)
      this.kept.set(listId, { updater, running: undefined, again: false, isFailing: false })
    }
    this.watch = parts.changes.watch((listId) => this.wake(listId))
    this.timer = every(() => this.wake(undefined), parts.intervalMs)
    this.timer.unref()
    this.wake(undefined)
  }

  async close(): Promise<void> {
    this.closed = true
    clearInterval(this.timer)
    this.watch.stop()
    await Promise.all([...this.kept].map(([listId, kept]) => this.end(listId, kept)))
  }

  private async end(listId: string, { updater, running }: Kept): Promise<void> {
    updater.stop()
    await running
    try {
      await updater.release()
    } catch (error) {
      this.parts.report(`releasing the hot set of ${listId} failed`, error)
    }
  }

  private wake(listId: string | undefined): void {
    for (const [id, kept] of this.kept) {
      if (listId !== undefined && id !== listId) continue
      kept.again = true
      if (!this.closed) kept.running ??= this.run(id, kept).finally(() => (kept.running = undefined))
    }
  }

  private async run(listId: string, kept: Kept): Promise<void> {
    while (kept.again && !this.closed) {
      kept.again = false
      try {
        kept.again ||= await kept.updater.round()
        kept.isFailing = false
      } catch (error) {
        // Told once, and tried again with the next look.
        if (!kept.isFailing) this.parts.report(`updating the hot set of ${listId} failed`, error)
        kept.isFailing = true
      }
    }
  }
}
