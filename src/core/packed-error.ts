import { CatracaError, type ErrorCode, type FieldError } from './errors.js'

/** An error in a form that can be sent between threads, where it would lose its class. */
export interface PackedError {
  code: ErrorCode
  message: string
  errors?: FieldError[]
  facts?: Record<string, unknown>
  /** The stack of an unexpected error. */
  stack?: string
}

export function packError(error: unknown): PackedError {
  if (!(error instanceof CatracaError)) {
    const { message, stack } = error instanceof Error ? error : new Error(String(error))
    return { code: 'INTERNAL', message, ...(stack === undefined ? {} : { stack }) }
  }
  const { code, message, errors, facts } = error
  return { code, message, ...(errors && { errors }), ...(facts && { facts }) }
}

export function unpackError({ code, message, stack, ...details }: PackedError): CatracaError {
  return new CatracaError(code, message, stack === undefined ? details : { ...details, cause: stack })
}
