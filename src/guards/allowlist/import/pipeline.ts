import { randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { CatracaError } from '../../../core/errors.js'
import type { BeginOutcome, ImportCheckpoint, ImportRecord, ImportSession } from '../port.js'
import type { ImportResult } from '../types.js'
import { AddImport } from './add.js'
import { checkpointOf, extraCells } from './checkpoint.js'
import { collectRuns } from './collect.js'
import { describeFailure } from './failure.js'
import type { ImportJob, ImportWork } from './job.js'
import { LeaseRenewal } from './lease-renewal.js'
import { DEFAULT_LIMITS, type ImportLimits } from './limits.js'
import { ProgressReport } from './progress.js'
import { ReplaceImport } from './replace.js'
import { RunBuilder } from './run.js'
import { BodySource } from './source.js'
import { ImportStop } from './stop.js'

type Begun = Extract<BeginOutcome, { session: ImportSession }>

/**
 * Imports a body of any size into a list, in bounded memory: bytes, rows, sorted runs, batches of the engine. If
 * it ends early, its record allows a resume with the same `importId`.
 */
export async function runImport(job: ImportJob): Promise<ImportResult> {
  const { bulk, listId, leaseMs, clock } = job
  const { importId, mode, addedBy } = job.options
  const request = {
    listId,
    importId,
    mode,
    owner: randomUUID(),
    leaseMs,
    ...(addedBy === undefined ? {} : { addedBy }),
  }
  const begun = await bulk.begin(request, clock.now())
  if (!('session' in begun)) throw refusal(begun.outcome, job)
  return new RunningImport(job, begun).toEnd()
}

class RunningImport {
  private readonly stop = new AbortController()
  private readonly source: BodySource
  private readonly progress: ProgressReport
  private readonly limits: ImportLimits
  private readonly session: ImportSession
  private readonly record: ImportRecord

  constructor(
    private readonly job: ImportJob,
    private readonly begun: Begun,
  ) {
    const { body, options, clock } = job
    this.session = begun.session
    this.record = begun.record
    const { maxErrors = DEFAULT_LIMITS.maxErrors } = job.options
    this.limits = { ...DEFAULT_LIMITS, maxErrors, ...job.limits }
    this.source = new BodySource(body, {
      gzip: options.gzip,
      signal: this.stop.signal,
      limits: this.limits,
    })
    this.progress = new ProgressReport(this.source, clock, options.onProgress)
  }

  async toEnd(): Promise<ImportResult> {
    const { signal } = this.job.options
    const onAbort = (): void => this.stop.abort(new ImportStop('input-cut', signal?.reason))
    signal?.addEventListener('abort', onAbort)
    if (signal?.aborted === true) onAbort()
    try {
      return this.begun.outcome === 'completed' ? await this.again() : await this.execute()
    } finally {
      signal?.removeEventListener('abort', onAbort)
      // Releases a body whose read is still pending.
      this.stop.abort(new ImportStop('input-cut'))
    }
  }

  /** The import was completed before: returns the same result, whatever the body contains. */
  private async again(): Promise<ImportResult> {
    await this.source.drain().catch(() => {})
    const checkpoint = checkpointOf(this.record)
    try {
      return await this.finish(checkpoint)
    } catch (error) {
      // Not recorded: the record already has the right state, completed.
      throw describeFailure(error, this.session, checkpoint).failure
    }
  }

  private async execute(): Promise<ImportResult> {
    const { bulk, clock, options } = this.job
    const lease = new LeaseRenewal(bulk, this.session, clock, (reason) => this.stop.abort(reason))
    const work = this.work()
    const mode =
      options.mode === 'replace' ? new ReplaceImport(work) : new AddImport(work, checkpointOf(this.record))
    try {
      await mode.execute()
      await lease.stop()
      this.progress.tell()
      return await this.finish(mode.checkpoint)
    } catch (error) {
      await lease.stop()
      throw await this.fail(error, mode.checkpoint)
    }
  }

  private work(): ImportWork {
    const { bulk, members, clock, spillDir, options, takesExpiry = true } = this.job
    const { limits, session, progress } = this
    const pause = (): Promise<void> => setImmediate()
    const { column } = options
    const rowOptions = { maxRowBytes: limits.maxRowBytes, takesExpiry, ...(column && { column }) }
    const run = new RunBuilder(limits)
    const runs = collectRuns(this.source.chunks(), {
      format: options.format,
      rowOptions,
      run,
      progress,
      pause,
    })
    const { signal } = this.stop
    return { bulk, members, session, clock, limits, spillDir, signal, runs, progress, pause }
  }

  private async finish(checkpoint: ImportCheckpoint): Promise<ImportResult> {
    const { bulk, clock } = this.job
    const list = await bulk.finish(this.session, checkpoint, 'completed', undefined, clock.now())
    if (list === undefined) throw new ImportStop('list-not-found')
    const { added, unchanged, removed, rejected, firstErrors } = checkpoint
    const counts = { added, unchanged, removed, rejected, ...extraCells(checkpoint.rowsWithExtraCells) }
    return { importId: this.session.importId, ...counts, firstErrors, ...list }
  }

  /** Records how the import ended, if this import still owns its record. Returns the error to throw. */
  private async fail(error: unknown, checkpoint: ImportCheckpoint): Promise<CatracaError> {
    const { bulk, clock } = this.job
    const { failure, state } = describeFailure(await this.reason(error), this.session, checkpoint)
    if (state !== undefined) {
      const message = failure.message.slice(0, 500)
      // The engine itself may have failed. Then the lease expires, and the import can still be resumed.
      await bulk.finish(this.session, checkpoint, state, message, clock.now()).catch(() => {})
    }
    return failure
  }

  /** A renewal only reports that the import is lost. If its record is also missing, the list was deleted. */
  private async reason(error: unknown): Promise<unknown> {
    if (!(error instanceof ImportStop) || error.reason !== 'lost') return error
    const { listId, importId } = this.session
    const isThere = await this.job.bulk.status(listId, importId, this.job.clock.now()).then(
      (record) => record !== undefined,
      () => true,
    )
    return isThere ? error : new ImportStop('list-not-found')
  }
}

function refusal(outcome: Exclude<BeginOutcome, Begun>['outcome'], job: ImportJob): CatracaError {
  const { listId, options } = job
  switch (outcome) {
    case 'list-not-found':
      return new CatracaError('ALLOWLIST_NOT_FOUND', `there is no allowlist ${listId}`)
    case 'import-running':
      return new CatracaError('IMPORT_IN_PROGRESS', `import ${options.importId} is running already`)
    case 'replace-running':
      return new CatracaError('REPLACE_IN_PROGRESS', `another replace of ${listId} is running`)
    case 'other-mode':
      return new CatracaError(
        'IMPORT_INPUT_CHANGED',
        `import ${options.importId} was started with another mode than ${options.mode}`,
      )
  }
}
