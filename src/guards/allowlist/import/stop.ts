/** Why an import stopped although its rows are valid. */
export type StopReason = 'input-cut' | 'lost' | 'list-not-found'

/** Used only inside the import. `runImport` turns it into the error that callers get. */
export class ImportStop extends Error {
  constructor(
    readonly reason: StopReason,
    cause?: unknown,
  ) {
    super(`import stopped: ${reason}`, { cause })
  }
}
