import { setTimeout as sleep } from 'node:timers/promises'
import { CatracaError } from '../../../core/errors.js'
import type { Progress, RelayLeases } from './relay-leases.js'
import type { Failure, Sequencer } from './sequencer.js'
import type { StreamReader } from './stream-reader.js'
import type { StreamRecord } from './stream-records.js'

export interface WorkerParts {
  reader: StreamReader
  sequencer: Sequencer
  leases: RelayLeases
  /** How long to wait at the current end of a shard. */
  pollMs: number
  /** How long to wait after records, so that those of a list become one entry. */
  batchMs: number
  now: () => number
  /** The time up to which all other shards of this stream were processed. */
  othersUntil(worker: RelayWorker): number
  /** Records that cannot be processed and are skipped. */
  recordDead(reader: StreamReader, failure: Failure): Promise<void>
  report(message: string, error: unknown): void
}

/** How often a record is tried that fails for a reason other than the engine. */
const MAX_ATTEMPTS = 5
/** As many are worth entries of their own. DynamoDB returns up to 1,000 at once. */
const MANY_RECORDS = 500
const LONGEST_PAUSE_MS = 2000

/** Reads one shard to its end, as long as it holds its lease. */
export class RelayWorker {
  private readonly stopping = new AbortController()
  private progress: Progress
  readonly done: Promise<void>

  constructor(
    private readonly parts: WorkerParts,
    readonly shardId: string,
    checkpoint: string | undefined,
  ) {
    this.progress = { checkpoint, cleanAt: 0, isFinished: false }
    this.done = this.run()
  }

  get stream(): string {
    return this.parts.reader.label
  }

  /** The time up to which everything in this shard was processed. */
  get cleanAt(): number {
    return this.progress.cleanAt
  }

  get isOver(): boolean {
    return this.progress.isFinished || this.stopping.signal.aborted
  }

  /** Stores its progress. False: the lease was lost, and it stops. */
  async renew(): Promise<boolean> {
    const kept = await this.parts.leases.store(this.stream, this.shardId, this.progress, true)
    if (!kept) this.stopping.abort()
    return kept
  }

  /** Finishes the current records and releases the shard. */
  async stop(): Promise<void> {
    this.stopping.abort()
    await this.done
    await this.parts.leases.store(this.stream, this.shardId, this.progress, false)
  }

  private async run(): Promise<void> {
    let iterator: string | undefined
    let failed = 0
    while (!this.isOver) {
      try {
        iterator = await this.step(iterator ?? (await this.begin()))
        failed = 0
      } catch (error) {
        // Continues from the checkpoint, as often as needed: no record may be skipped.
        iterator = undefined
        this.parts.report(`shard ${this.shardId} cannot be read`, error)
        await this.pause(Math.min(LONGEST_PAUSE_MS, 100 * 2 ** failed++))
      }
    }
  }

  private async begin(): Promise<string | undefined> {
    const { reader } = this.parts
    const iterator = await reader.iterator(this.shardId, this.progress.checkpoint)
    if (iterator !== 'trimmed') return iterator
    await this.missed()
    const oldest = await reader.iterator(this.shardId, undefined)
    if (oldest !== 'trimmed') return oldest
    await this.finish()
    return undefined
  }

  /** Records were trimmed before they were read. */
  private async missed(): Promise<void> {
    const { sequencer, now, report } = this.parts
    report(`records of shard ${this.shardId} were dropped unread: all lists are reset`, undefined)
    await sequencer.resetAll(now())
  }

  /** Processes one part of the shard. Returns the iterator of the next part. */
  private async step(iterator: string | undefined): Promise<string | undefined> {
    if (this.isOver || iterator === undefined) return undefined
    const startedAt = this.parts.now()
    const part = await this.parts.reader.records(iterator)
    if (part === 'trimmed') await this.missed()
    if (typeof part === 'string') return undefined
    const { records, lastSequence, lastMadeAt, next } = part
    if (records.length > 0 && !(await this.process(records))) return undefined
    if (lastSequence !== undefined) this.progress.checkpoint = lastSequence
    this.progress.cleanAt = lastSequence === undefined ? startedAt : (lastMadeAt ?? this.progress.cleanAt)
    if (next === undefined) await this.finish()
    else if (lastSequence === undefined) await this.pause(this.parts.pollMs)
    else if (this.parts.batchMs > 0 && records.length < MANY_RECORDS) await this.pause(this.parts.batchMs)
    return next
  }

  private async finish(): Promise<void> {
    this.progress.isFinished = true
    await this.parts.leases.store(this.stream, this.shardId, this.progress, false)
  }

  /** False: it was stopped before all were processed. */
  private async process(all: StreamRecord[]): Promise<boolean> {
    const { sequencer, othersUntil, report } = this.parts
    let records = all
    for (let attempt = 1; ; attempt++) {
      const failures = await sequencer.process(records, othersUntil(this))
      if (failures.length === 0) return true
      for (const { error, listId } of failures) {
        report(listId === undefined ? 'telling pods failed' : `sequencing ${listId} failed`, error)
      }
      if (attempt >= MAX_ATTEMPTS) records = await this.leaveBehind(records, failures)
      if (records.length === 0) return true
      await this.pause(Math.min(LONGEST_PAUSE_MS, 50 * 2 ** attempt))
      if (this.stopping.signal.aborted) return false
    }
  }

  /** A record that fails permanently, and not because of the engine, would block all others for ever. */
  private async leaveBehind(records: StreamRecord[], failures: Failure[]): Promise<StreamRecord[]> {
    const waiting = new Set(failures.filter(isPassing).map(({ listId }) => listId))
    for (const failure of failures) {
      const isHopeless = failure.listId !== undefined && !isPassing(failure)
      if (isHopeless) await this.parts.recordDead(this.parts.reader, failure)
    }
    return records.filter((record) => waiting.has(listOf(record)))
  }

  private async pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.stopping.signal }).catch(() => {})
  }
}

/**
 * Failures of the engine pass; until then nothing may be skipped. If only publishing failed, pods notice the change
 * by polling.
 */
function isPassing({ listId, error }: Failure): boolean {
  return listId !== undefined && error instanceof CatracaError && PASSING.has(error.code)
}

const PASSING = new Set(['ENGINE_UNAVAILABLE', 'UNKNOWN_OUTCOME', 'STORE_UNUSABLE', 'CLOSED'])

const listOf = ({ keys }: StreamRecord): string | undefined => keys.PK?.S?.split('#')[1]
