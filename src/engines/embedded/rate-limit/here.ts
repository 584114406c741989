import { CatracaError } from '../../../core/errors.js'
import type { Listing } from '../../../core/listing.js'
import { every } from '../../../core/timers.js'
import type {
  Freed,
  LeaseOutcome,
  LeaseUse,
  LimitStore,
  SubjectCosts,
  Taken,
} from '../../../guards/rate-limit/port.js'
import type { Subject } from '../../../guards/rate-limit/types.js'
import { Environment, type EnvironmentOptions } from '../lmdb/environment.js'
import { FREED_POLL_MS, LimitCounters, type SubjectListing } from './counters.js'
import { rejectAll, TurnTakes, type WaitingTake } from './turn-takes.js'

interface Opened {
  environment: Environment
  counters: LimitCounters
}

/** The counters on the calling thread, for stores whose writes may block it. Opened at the first use. */
export class LimitsHere implements LimitStore {
  private opened: Opened | undefined
  private readonly takes = new TurnTakes((takes) => this.decide(takes))
  private isClosed = false

  constructor(private readonly options: () => EnvironmentOptions) {}

  take(subjects: readonly SubjectCosts[], now: number): Promise<Taken> {
    return this.takes.take(subjects, now)
  }

  private async decide(takes: WaitingTake[]): Promise<void> {
    try {
      const answers = await this.open().counters.take(takes)
      takes.forEach(({ resolve }, i) => {
        resolve(answers[i]!)
      })
    } catch (error) {
      rejectAll(takes, error)
    }
  }

  async adjust(lease: LeaseUse, adjustment: string, now: number): Promise<LeaseOutcome> {
    return this.open().counters.adjust(lease, adjustment, now)
  }

  async giveBack(lease: LeaseUse, now: number): Promise<LeaseOutcome> {
    return this.open().counters.giveBack(lease, now)
  }

  async list(request: SubjectListing): Promise<Listing<Subject>> {
    return this.open().counters.list(request)
  }

  async reset(subject: Subject): Promise<boolean> {
    return this.open().counters.reset(subject)
  }

  async sweep(now: number): Promise<{ swept: number; more: boolean }> {
    return this.opened === undefined ? { swept: 0, more: false } : this.opened.counters.sweep(now)
  }

  watch(listener: (freed: Freed) => void): () => void {
    const { counters } = this.open()
    let freed = counters.freed()
    const poll = every(() => {
      if (this.isClosed) return
      const before = freed
      freed = counters.freed()
      if (before !== freed) listener(undefined)
    }, FREED_POLL_MS).unref()
    return () => clearInterval(poll)
  }

  async close(): Promise<boolean> {
    this.takes.flush()
    this.isClosed = true
    await this.opened?.environment.close()
    return true
  }

  private open(): Opened {
    if (this.isClosed) throw new CatracaError('CLOSED', 'this instance was closed')
    if (this.opened === undefined) {
      const environment = Environment.open(this.options())
      this.opened = { environment, counters: new LimitCounters(environment) }
    }
    return this.opened
  }
}
