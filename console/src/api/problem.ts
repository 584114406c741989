export interface FieldError {
  path: string
  message: string
}

/** What went wrong with a call: the server's problem document, or the lack of any answer (status 0). */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem'

  constructor(
    readonly status: number,
    readonly code: string,
    detail: string,
    readonly errors: readonly FieldError[] = [],
    readonly requestId?: string,
  ) {
    super(detail)
  }

  /** The message for one field of a form. */
  of(path: string): string | undefined {
    return this.errors.find((error) => error.path === path)?.message
  }
}

export function toProblem(error: unknown): ApiProblem {
  if (error instanceof ApiProblem) return error
  return new ApiProblem(0, 'UNEXPECTED', error instanceof Error ? error.message : String(error))
}
