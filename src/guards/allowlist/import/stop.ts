/** Why an import stopped although nothing is wrong with its rows. */
export type StopReason = 'input-cut' | 'lost' | 'list-not-found'

/** Travels inside the import only; `runImport` turns it into the error that callers see. */
export class ImportStop extends Error {
  constructor(
    readonly reason: StopReason,
    cause?: unknown,
  ) {
    super(`import stopped: ${reason}`, { cause })
  }
}
