export interface FieldProblem {
  path: string
  message: string
}

interface ErrorFacts {
  code: string
  status: number
  errors?: FieldProblem[] | undefined
  retryAfter?: number | undefined
  requestId?: string | undefined
  body?: unknown
  cause?: unknown
}

/** A call that the server refused or could not execute, or that never reached it. */
export class CatracaApiError extends Error {
  override readonly name = 'CatracaApiError'
  /** A code of the server's error table, or one of the client: UNREACHABLE, TIMEOUT, ABORTED, UNREADABLE_ANSWER. */
  readonly code: string
  /** HTTP status; 0 when there was no response. */
  readonly status: number
  /** The fields that were refused. */
  readonly errors: readonly FieldProblem[]
  /** Whole seconds, when the server says how long to wait. */
  readonly retryAfter: number | undefined
  readonly requestId: string | undefined
  /** The whole problem, with its extension members, such as `violated-policies`. */
  readonly body: unknown

  constructor(message: string, { code, status, errors, retryAfter, requestId, body, cause }: ErrorFacts) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.status = status
    this.errors = errors ?? []
    this.retryAfter = retryAfter
    this.requestId = requestId
    this.body = body
  }
}

/** Turns an error response into an error. It may come from a proxy, and not be a problem document. */
export async function errorOf(response: Response): Promise<CatracaApiError> {
  const text = await response.text().catch(() => '')
  const body = parsed(text)
  const { detail, code, errors } = (typeof body === 'object' && body !== null ? body : {}) as {
    detail?: string
    code?: string
    errors?: FieldProblem[]
  }
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN)
  return new CatracaApiError(detail ?? `the server answered ${response.status}`, {
    code: code ?? `HTTP_${response.status}`,
    status: response.status,
    errors,
    retryAfter: Number.isFinite(retryAfter) ? retryAfter : undefined,
    requestId: response.headers.get('x-request-id') ?? undefined,
    body,
  })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text.slice(0, 1000)
  }
}
