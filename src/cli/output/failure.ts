import { CommanderError } from 'commander'
import { CatracaError, ERROR_CODES, isCatracaError } from '../../core/errors.js'
import { note, visible } from './print.js'

export const EXIT = { ok: 0, failure: 1, usage: 2, denied: 3 } as const

/** Ends the command with this code and without a message: the message was printed already. */
export class Exit extends Error {
  constructor(readonly code: number) {
    super(`exit ${code}`)
  }
}

interface ReportOptions {
  json: boolean
  /** Print the stack too. */
  debug: boolean
}

/** Prints an error to standard error, and returns the exit code. */
export function reportFailure(error: unknown, { json, debug }: ReportOptions): number {
  if (error instanceof Exit) return error.code
  // Commander has printed its message already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
  const failure = asCatracaError(error)
  if (json) note(JSON.stringify(problem(failure), null, 2))
  else printProblem(failure)
  if (debug) note(String((error as Error).stack ?? error))
  return isWrongUsage(failure) ? EXIT.usage : EXIT.failure
}

export function printUsageError(message: string, help: string, json: boolean): void {
  if (json) note(JSON.stringify(problem(new CatracaError('INVALID_INPUT', message)), null, 2))
  else note(`catraca: ${visible(message)} (see ${help})`)
}

function asCatracaError(error: unknown): CatracaError {
  if (isCatracaError(error)) return error
  const message = error instanceof Error ? error.message : String(error)
  return new CatracaError('INTERNAL', `unexpected failure: ${message}`, { cause: error })
}

function isWrongUsage(error: CatracaError): boolean {
  if (error.code === 'CONFIG_INVALID') return error.facts?.source === 'flag'
  return error.code === 'INVALID_INPUT'
}

function problem(error: CatracaError): object {
  return {
    title: ERROR_CODES[error.code],
    detail: error.message,
    code: error.code,
    ...(error.errors && { errors: error.errors }),
    ...error.facts,
  }
}

function printProblem(error: CatracaError): void {
  note(`catraca: ${visible(error.message)}`)
  const lines = (error.errors ?? []).map(({ path, message }) => `${path} ${message}`)
  // The error of a single field is the message itself.
  for (const line of lines) if (line !== error.message) note(`  ${visible(line)}`)
}
