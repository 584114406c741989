import { CatracaError, isCatracaError } from '../../../core/errors.js'
import type { ImportCheckpoint, ImportSession } from '../port.js'
import type { ImportState } from '../types.js'
import { ImportStop } from './stop.js'

export interface Failure {
  failure: CatracaError
  /** The state to record. Undefined if this import no longer owns its record. */
  state: Extract<ImportState, 'interrupted' | 'failed'> | undefined
}

/** The error that the caller of a failed import gets, with its progress. */
export function describeFailure(
  error: unknown,
  session: ImportSession,
  checkpoint: ImportCheckpoint,
): Failure {
  const { importId, listId } = session
  const { rowsAcknowledged, added, unchanged, removed, rejected } = checkpoint
  const facts = { importId, rowsAcknowledged, added, unchanged, removed, rejected }
  if (error instanceof ImportStop) return stopped(error, listId, facts)
  if (error instanceof CatracaError) {
    const { code, message, cause, errors } = error
    const failure = new CatracaError(code, message, {
      cause: cause ?? error,
      ...(errors && { errors }),
      facts: { ...error.facts, ...facts },
    })
    // The caller came with another input. The import keeps its state and can be resumed with its own input.
    return { failure, state: isCatracaError(error, 'IMPORT_INPUT_CHANGED') ? 'interrupted' : 'failed' }
  }
  const failure = new CatracaError('INTERNAL', 'the import failed unexpectedly', { cause: error, facts })
  return { failure, state: 'failed' }
}

function stopped(stop: ImportStop, listId: string, facts: Record<string, unknown>): Failure {
  const { cause } = stop
  const details = cause === undefined ? { facts } : { cause, facts }
  switch (stop.reason) {
    case 'input-cut': {
      const message = `the input broke off; ${facts.rowsAcknowledged} rows are stored, and the rest can be resumed`
      return { failure: new CatracaError('IMPORT_INTERRUPTED', message, details), state: 'interrupted' }
    }
    case 'lost': {
      const message = `import ${facts.importId} was taken over by another attempt`
      return { failure: new CatracaError('IMPORT_IN_PROGRESS', message, details), state: undefined }
    }
    case 'list-not-found': {
      const message = `the allowlist ${listId} was deleted during the import`
      return { failure: new CatracaError('ALLOWLIST_NOT_FOUND', message, details), state: undefined }
    }
  }
}
