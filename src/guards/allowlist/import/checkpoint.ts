import { CatracaError } from '../../../core/errors.js'
import type { ImportCheckpoint, ImportRecord } from '../port.js'

export const NOTHING_YET: ImportCheckpoint = {
  rowsAcknowledged: 0,
  inputDigest: '',
  added: 0,
  unchanged: 0,
  removed: 0,
  rejected: 0,
  firstErrors: [],
}

export function checkpointOf(record: ImportRecord): ImportCheckpoint {
  const { rowsAcknowledged, inputDigest, added, unchanged, removed, rejected, run, firstErrors } = record
  const checkpoint = { rowsAcknowledged, inputDigest, added, unchanged, removed, rejected, firstErrors }
  return { ...checkpoint, ...extraCells(record.rowsWithExtraCells), ...(run !== undefined && { run }) }
}

/** Named only where there are some: most files have none. */
export function extraCells(before = 0, more = 0): Pick<ImportCheckpoint, 'rowsWithExtraCells'> {
  return before + more === 0 ? {} : { rowsWithExtraCells: before + more }
}

export function inputChanged(): CatracaError {
  return new CatracaError(
    'IMPORT_INPUT_CHANGED',
    'the rows differ from those that this import started with; resume it with the same input, or start another import',
  )
}
