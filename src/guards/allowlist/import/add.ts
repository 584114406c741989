import { readCustomerKey } from '../customer-key.js'
import type { BatchOutcome, ImportCheckpoint } from '../port.js'
import { extraCells, inputChanged } from './checkpoint.js'
import type { ImportWork } from './job.js'
import type { ImportLimits } from './limits.js'
import { firstOf } from './rejected-row.js'
import type { RunBuilder } from './run.js'
import { SortedRun } from './sorted-run.js'
import { ImportStop } from './stop.js'

/**
 * Adds the customers of the input run by run, or removes them. After an interruption the same input is read again: acknowledged runs are only
 * compared (by the digest that chains them), and the interrupted run continues where it stopped.
 */
export class AddImport {
  private rowsSeen = 0
  private digest = ''
  /** What a customer counts as for whom a batch changed something. */
  private readonly counted: 'added' | 'removed'

  constructor(
    private readonly work: ImportWork,
    public checkpoint: ImportCheckpoint,
  ) {
    this.counted = work.session.mode === 'remove' ? 'removed' : 'added'
  }

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
      const to = Math.min(from + this.batchSize(limits), customers.count)
      const before = this.checkpoint
      const advance = (changed: number, unchanged: number): ImportCheckpoint =>
        to < customers.count
          ? this.within(before, to, changed, unchanged)
          : this.behind(before, run, customers.count, changed, unchanged)
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
    if (session.mode === 'remove') return this.removeBatch(customers, from, to, advance)
    const outcome: BatchOutcome = await bulk.add(session, customers, from, to, advance, clock.now())
    if (outcome.outcome === 'stored') return outcome
    throw new ImportStop(outcome.outcome)
  }

  private batchSize({ batchCustomers, batchRemovals }: ImportLimits): number {
    return this.counted === 'removed' ? batchRemovals : batchCustomers
  }

  /**
   * Each customer is removed in a step of its own, as by `remove`; then the batch is acknowledged. A batch that a
   * crash interrupts is repeated, and those that it had removed then count as unchanged.
   */
  private async removeBatch(
    customers: SortedRun,
    from: number,
    to: number,
    advance: (removed: number, unchanged: number) => ImportCheckpoint,
  ): Promise<{ added: number; unchanged: number }> {
    const { bulk, members, session, clock } = this.work
    if (!(await bulk.renew(session, undefined, clock.now()))) throw new ImportStop('lost')
    const removals = Array.from({ length: to - from }, (_, i) => {
      const customerId = readCustomerKey(customers.bytes, customers.start(from + i), customers.end(from + i))
      return members.remove(session.listId, customerId, clock.now())
    })
    const outcomes = (await Promise.all(removals)).map(({ outcome }) => outcome)
    if (outcomes.includes('list-not-found')) throw new ImportStop('list-not-found')
    const added = outcomes.filter((outcome) => outcome === 'removed').length
    const unchanged = outcomes.length - added
    if (!(await bulk.renew(session, advance(added, unchanged), clock.now()))) throw new ImportStop('lost')
    return { added, unchanged }
  }

  private within(
    before: ImportCheckpoint,
    applied: number,
    changed: number,
    unchanged: number,
  ): ImportCheckpoint {
    return {
      ...before,
      [this.counted]: before[this.counted] + changed,
      unchanged: before.unchanged + unchanged,
      run: { digest: this.digest, applied },
    }
  }

  /** The last batch acknowledges the run and counts its repeated and rejected rows. */
  private behind(
    { run: _, ...before }: ImportCheckpoint,
    run: RunBuilder,
    customers: number,
    changed: number,
    unchanged: number,
  ): ImportCheckpoint {
    const repeated = run.rows - run.rejected - customers
    return {
      ...before,
      rowsAcknowledged: this.rowsSeen,
      inputDigest: this.digest,
      [this.counted]: before[this.counted] + changed,
      unchanged: before.unchanged + unchanged + repeated,
      rejected: before.rejected + run.rejected,
      ...extraCells(before.rowsWithExtraCells, run.rowsWithExtraCells),
      firstErrors: firstOf(before.firstErrors, run.errors, this.work.limits.maxErrors),
    }
  }
}
