import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { CatracaError } from '../../../core/errors.js'
import type { SortedCustomers } from '../port.js'
import { Slice } from './block.js'
import type { ImportLimits } from './limits.js'
import { MemoryCursor, type MergeTally, merge } from './merge.js'
import type { SortedRun } from './sorted-run.js'
import { SpillCursor, writeSpill } from './spill-file.js'

/** Sorted runs that together are too large for memory, on disk until they are merged. */
export class Spill {
  private folder: string | undefined
  private readonly paths: string[] = []
  private readonly open: SpillCursor[] = []

  constructor(
    private readonly directory: string,
    private readonly limits: ImportLimits,
  ) {}

  async write(run: SortedRun): Promise<void> {
    await this.onDisk(async () => {
      if (this.folder === undefined) {
        await mkdir(this.directory, { recursive: true })
        this.folder = await mkdtemp(join(this.directory, 'import-'))
      }
      const path = join(this.folder, `${this.paths.length}.run`)
      this.paths.push(path)
      await writeSpill(path, run, this.limits.spillBufferBytes)
    })
  }

  /** All customers in ascending order. `last` is the run that was not written. Of equal ids the first counts. */
  async *merged(last: SortedRun | undefined, tally: MergeTally): AsyncGenerator<SortedCustomers> {
    if (this.paths.length === 0) {
      if (last !== undefined) yield* this.slices(last)
      return
    }
    for (const [rank, path] of this.paths.entries()) {
      await this.onDisk(async () => {
        this.open.push(await SpillCursor.open(path, rank, this.limits.spillBufferBytes))
      })
    }
    const inMemory = last === undefined ? [] : [new MemoryCursor(last, this.paths.length)]
    yield* merge([...this.open, ...inMemory], this.limits, tally)
  }

  private *slices(run: SortedRun): Generator<SortedCustomers> {
    for (let from = 0; from < run.count; from += this.limits.blockCustomers) {
      yield new Slice(run, from, Math.min(from + this.limits.blockCustomers, run.count))
    }
  }

  /** Removes all files. */
  async dispose(): Promise<void> {
    for (const cursor of this.open.splice(0)) await cursor.close()
    if (this.folder !== undefined) await rm(this.folder, { recursive: true, force: true })
    this.folder = undefined
  }

  private async onDisk(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      const isFull =
        error instanceof Error && 'code' in error && ['ENOSPC', 'EDQUOT'].includes(String(error.code))
      if (isFull)
        throw new CatracaError('STORE_FULL', 'no space on the disk to sort this import', { cause: error })
      throw new CatracaError('STORE_UNUSABLE', 'the directory for sorting imports cannot be used', {
        cause: error,
      })
    }
  }
}
