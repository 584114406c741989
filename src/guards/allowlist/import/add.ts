import type { BatchOutcome, ImportCheckpoint } from '../port.js'
import { extraCells, inputChanged } from './checkpoint.js'
import type { ImportWork } from './job.js'
import { firstOf } from './rejected-row.js'
import type { RunBuilder } from './run.js'
import { SortedRun } from './sorted-run.js'
import { ImportStop } from './stop.js'

/**
 * Adds the input run by run. After an interruption the same input is read again: acknowledged runs are only
 * compared (by the digest that chains them), and the interrupted run continues where it stopped.
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
    // The input is shorter than the part already acknowledged.
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
      // Gives other writers a turn at the engine.
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
      // A run of rejected rows only: they are still acknowledged.
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

  /** The last batch acknowledges the run and counts its repeated and rejected rows. */
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
      ...extraCells(before.rowsWithExtraCells, run.rowsWithExtraCells),
      firstErrors: firstOf(before.firstErrors, run.errors, this.work.limits.maxErrors),
    }
  }
}
