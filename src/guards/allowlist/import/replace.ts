import { CatracaError } from '../../../core/errors.js'
import type { ImportCheckpoint, ReplaceCounts, SortedCustomers } from '../port.js'
import { extraCells, NOTHING_YET } from './checkpoint.js'
import type { ImportWork } from './job.js'
import type { MergeTally } from './merge.js'
import { firstOf } from './rejected-row.js'
import type { RunBuilder } from './run.js'
import { SortedRun } from './sorted-run.js'
import { Spill } from './spill.js'
import { ImportStop } from './stop.js'

/**
 * Makes the list contain exactly the customers of the input. Nothing is visible or acknowledged before the whole
 * input is read and sorted, so a resumed replace starts again.
 */
export class ReplaceImport {
  checkpoint: ImportCheckpoint = NOTHING_YET
  private rows = 0
  /** Rows that repeat an id within one run. */
  private repeated = 0
  private digest = ''
  private readonly spill: Spill

  constructor(private readonly work: ImportWork) {
    this.spill = new Spill(work.spillDir, work.limits)
  }

  async execute(): Promise<void> {
    try {
      const last = await this.collect()
      this.refuseRejected()
      await this.switch(last)
    } finally {
      await this.spill.dispose()
    }
  }

  /** Sorts the runs and spills all but the last to disk. Returns the last. */
  private async collect(): Promise<SortedRun | undefined> {
    const { runs, limits, pause } = this.work
    for await (const { run, isLast } of runs) {
      this.count(run)
      // Once a row is rejected, the rest is read only to collect errors, until there are enough.
      if (this.checkpoint.rejected >= limits.maxErrors) return undefined
      if (this.checkpoint.rejected > 0) continue
      this.digest = await run.digest(this.digest, pause)
      const sorted = await SortedRun.of(run, pause)
      this.repeated += run.rows - sorted.count
      if (isLast) return sorted
      await this.spill.write(sorted)
    }
    return undefined
  }

  private count(run: RunBuilder): void {
    this.rows += run.rows
    this.checkpoint = {
      ...this.checkpoint,
      rejected: this.checkpoint.rejected + run.rejected,
      ...extraCells(this.checkpoint.rowsWithExtraCells, run.rowsWithExtraCells),
      firstErrors: firstOf(this.checkpoint.firstErrors, run.errors, this.work.limits.maxErrors),
    }
  }

  /** A missing row would lock its customer out, so a replace accepts every row or changes nothing. */
  private refuseRejected(): void {
    const { rejected, firstErrors } = this.checkpoint
    if (rejected === 0) return
    const atLeast = rejected >= this.work.limits.maxErrors ? 'at least ' : ''
    throw new CatracaError(
      'INVALID_INPUT',
      `nothing was replaced, because ${atLeast}${rejected} rows of the input cannot be read`,
      { errors: firstErrors.map(({ line, message }) => ({ path: `line ${line}`, message })) },
    )
  }

  private async switch(last: SortedRun | undefined): Promise<void> {
    const { bulk, session, clock, progress } = this.work
    const tally: MergeTally = { duplicates: 0 }
    const advance = ({ added, unchanged, removed }: ReplaceCounts): ImportCheckpoint => ({
      ...this.checkpoint,
      rowsAcknowledged: this.rows,
      inputDigest: this.digest,
      added,
      unchanged: unchanged + this.repeated + tally.duplicates,
      removed,
    })
    const outcome = await bulk.replace(session, this.blocks(last, tally), advance, () => clock.now())
    if (outcome.outcome !== 'replaced') throw new ImportStop(outcome.outcome)
    this.checkpoint = advance(outcome)
    progress.rowsAcknowledged = this.rows
  }

  private async *blocks(last: SortedRun | undefined, tally: MergeTally): AsyncGenerator<SortedCustomers> {
    const { signal, progress } = this.work
    for await (const block of this.spill.merged(last, tally)) {
      signal.throwIfAborted()
      progress.tick()
      yield block
    }
    // The last chance to abort: the switch follows.
    signal.throwIfAborted()
  }
}
