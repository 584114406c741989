import type { ImportFormat } from '../types.js'
import { CsvReader } from './csv.js'
import { NdjsonReader } from './ndjson.js'
import type { ProgressReport } from './progress.js'
import type { RowOptions, RowReader } from './rows.js'
import type { Pause, RunBuilder } from './run.js'
import { TextReader } from './text.js'

const READERS = { csv: CsvReader, ndjson: NdjsonReader, text: TextReader } as const

/** Without pauses, a body that is already in memory would be parsed in one go. */
const BYTES_BETWEEN_PAUSES = 1024 * 1024

interface Collecting {
  format: ImportFormat
  rowOptions: RowOptions
  run: RunBuilder
  progress: ProgressReport
  pause: Pause
}

export interface Collected {
  run: RunBuilder
  /** No run follows, so its buffers are not overwritten. */
  isLast: boolean
}

/**
 * Fills `run` from the input repeatedly. A run is returned only when more input has arrived than fits, or at the
 * end. So the last run is known to be the last even if it is full.
 */
export async function* collectRuns(
  chunks: AsyncIterable<Uint8Array>,
  { format, rowOptions, run, progress, pause }: Collecting,
): AsyncGenerator<Collected> {
  const reader: RowReader = new READERS[format](run, rowOptions)
  let rowsBefore = 0
  let unpaused = 0
  const handOut = function* (): Generator<Collected> {
    yield { run, isLast: false }
    rowsBefore += run.rows
    run.reset()
  }
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; ) {
      if (run.full) yield* handOut()
      at = reader.read(chunk, at)
      progress.rowsRead = rowsBefore + run.rows
    }
    progress.tick()
    unpaused += chunk.length
    if (unpaused >= BYTES_BETWEEN_PAUSES) {
      unpaused = 0
      await pause()
    }
  }
  if (run.full && reader.hasRest) yield* handOut()
  reader.end()
  progress.rowsRead = rowsBefore + run.rows
  if (run.rows > 0) yield { run, isLast: true }
}
