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

/** The checkpoint stored in the record of an import. */
export function checkpointOf(record: ImportRecord): ImportCheckpoint {
  const { rowsAcknowledged, inputDigest, added, unchanged, removed, rejected, run, firstErrors } = record
  const checkpoint = { rowsAcknowledged, inputDigest, added, unchanged, removed, rejected, firstErrors }
  return run === undefined ? checkpoint : { ...checkpoint, run }
}

export function inputChanged(): CatracaError {
  return new CatracaError(
    'IMPORT_INPUT_CHANGED',
    'the rows differ from those that this import started with; resume it with the same input, or start another import',
  )
}
