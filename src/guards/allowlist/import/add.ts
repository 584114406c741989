import type { BatchOutcome, ImportCheckpoint } from '../port.js'
import { inputChanged } from './checkpoint.js'
import type { ImportWork } from './job.js'
import { firstOf } from './rejected-row.js'
import type { RunBuilder } from './run.js'
import { SortedRun } from './sorted-run.js'
import { ImportStop } from './stop.js'

/**
 * Adds the input run by run. After an interruption the same input is read again: runs that are acknowledged are
 * only compared (by the digest that chains them), and the one that was being stored goes on where it stopped.
 */
export class AddImport {
  private rowsSeen = 0
  private digest = ''

  constructor(
    private readonly work: ImportWork,
    public checkpoint: ImportCheckpoint,
  ) {}

  async execute(): Promise<void> {
    this.work.progress.rowsAcknowledged = this.checkpoint.rowsAcknowledged
    for await (const { run } of this.work.runs) await this.take(run)
    // The input ended before what is known of it.
    if (this.rowsSeen < this.checkpoint.rowsAcknowledged || this.checkpoint.run !== undefined)
      throw inputChanged()
  }

  private async take(run: RunBuilder): Promise<void> {
    const { rowsAcknowledged, inputDigest, run: begun } = this.checkpoint
    const rowsBefore = this.rowsSeen
    this.rowsSeen += run.rows
    this.digest = await run.digest(this.digest, this.work.pause)
    if (this.rowsSeen <= rowsAcknowledged) {
      if (this.rowsSeen === rowsAcknowledged && this.digest !== inputDigest) throw inputChanged()
      return
    }
    const isOther = rowsBefore < rowsAcknowledged || (begun !== undefined && begun.digest !== this.digest)
    if (isOther) throw inputChanged()
    await this.store(run, begun?.applied ?? 0)
  }

  private async store(run: RunBuilder, applied: number): Promise<void> {
    const { limits, signal, pause, progress } = this.work
    const customers = await SortedRun.of(run, pause)
    let from = applied
    do {
      signal.throwIfAborted()
      const to = Math.min(from + limits.batchCustomers, customers.count)
      const before = this.checkpoint
      const advance = (added: number, unchanged: number): ImportCheckpoint =>
        to < customers.count
          ? this.within(before, to, added, unchanged)
          : this.behind(before, run, customers.count, added, unchanged)
      const stored = await this.storeBatch(customers, from, to, advance)
      this.checkpoint = advance(stored.added, stored.unchanged)
      progress.rowsAcknowledged = this.checkpoint.rowsAcknowledged
      progress.tick()
      from = to
      // Other writers wait for the engine too.
      await pause()
    } while (from < customers.count)
  }

  private async storeBatch(
    customers: SortedRun,
    from: number,
    to: number,
    advance: (added: number, unchanged: number) => ImportCheckpoint,
  ): Promise<{ added: number; unchanged: number }> {
    const { bulk, session, clock } = this.work
    if (from === to) {
      // A run of nothing but rejected rows: they are acknowledged all the same.
      if (!(await bulk.renew(session, advance(0, 0), clock.now()))) throw new ImportStop('lost')
      return { added: 0, unchanged: 0 }
    }
    const outcome: BatchOutcome = await bulk.add(session, customers, from, to, advance, clock.now())
    if (outcome.outcome === 'stored') return outcome
    throw new ImportStop(outcome.outcome)
  }

  private within(
    before: ImportCheckpoint,
    applied: number,
    added: number,
    unchanged: number,
  ): ImportCheckpoint {
    return {
      ...before,
      added: before.added + added,
      unchanged: before.unchanged + unchanged,
      run: { digest: this.digest, applied },
    }
  }

  /** With its last batch the run is acknowledged, and its repeated and rejected rows are counted. */
  private behind(
    { run: _, ...before }: ImportCheckpoint,
    run: RunBuilder,
    customers: number,
    added: number,
    unchanged: number,
  ): ImportCheckpoint {
    const repeated = run.rows - run.rejected - customers
    return {
      ...before,
      rowsAcknowledged: this.rowsSeen,
      inputDigest: this.digest,
      added: before.added + added,
      unchanged: before.unchanged + unchanged + repeated,
      rejected: before.rejected + run.rejected,
      firstErrors: firstOf(before.firstErrors, run.errors, this.work.limits.maxErrors),
    }
  }
}
