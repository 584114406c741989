import { every } from '../../../core/timers.js'
import type { AllowlistEngine, ListRecord } from '../port.js'
import type { Indexes } from './indexes.js'
import type { MembershipOptions } from './options.js'

/** On DynamoDB each list costs a write unit. A process that ends saves its counts anyway. */
const SAVE_INTERVAL_MS = 300_000

type Report = (message: string, error: unknown) => void

/** Loads the lists that were checked most, so that a new process answers from memory from its first request. */
export async function warmUp(
  engine: Pick<AllowlistEngine, 'lists' | 'index'>,
  indexes: Indexes,
  options: MembershipOptions,
  report: Report,
  /** Told of each list that was read. */
  learn: (list: ListRecord) => void = () => {},
): Promise<void> {
  try {
    for (const id of await engine.index.mostUsed(options.warmUpLists)) {
      if (indexes.sizeBytes >= options.maxBytes) return
      const list = await engine.lists.get(id)
      if (list?.type !== 'FIXA') continue
      learn(list)
      const manifest = await engine.index.manifest(list)
      // A list that does not fit would evict the earlier ones, which are used more.
      if (indexes.sizeBytes + (manifest?.sizeBytes ?? 0) <= options.maxBytes) await indexes.load(list)
    }
  } catch (error) {
    // A process that cannot warm up still answers, from the store.
    report('warming up failed', error)
  }
}

/** Saves the use counts to the store, for the next start. */
export class UseCounts {
  private readonly timer: NodeJS.Timeout

  constructor(
    private readonly indexes: Indexes,
    private readonly report: Report,
  ) {
    this.timer = every(() => this.save(), SAVE_INTERVAL_MS)
    this.timer.unref()
  }

  private async save(): Promise<void> {
    try {
      await this.indexes.uses.save()
    } catch (error) {
      this.report('saving the usage counts of lists failed', error)
    }
  }

  async close(): Promise<void> {
    clearInterval(this.timer)
    await this.save()
  }
}
