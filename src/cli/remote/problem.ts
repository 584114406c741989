import { CatracaError, ERROR_CODES, type ErrorCode, type FieldError } from '../../core/errors.js'

/** Turns a problem response into the error that the library would throw. */
export function problemToError(url: string, status: number, contentType: string, text: string): CatracaError {
  const body = contentType.startsWith('application/problem+json') ? parseObject(text) : undefined
  const code = body?.code
  if (body === undefined || typeof code !== 'string' || !Object.hasOwn(ERROR_CODES, code)) {
    // Not a Catraca server: a proxy, or another program on that port.
    return new CatracaError('ENGINE_UNAVAILABLE', `${url} answered ${status}, not as a Catraca server does`)
  }
  const { type, title, status: _, detail, code: __, errors, instance, requestId, ...facts } = body
  return new CatracaError(code as ErrorCode, typeof detail === 'string' ? detail : String(title), {
    ...(Array.isArray(errors) && { errors: errors as FieldError[] }),
    ...(Object.keys(facts).length > 0 && { facts }),
  })
}

/** There was no response. The message names the URL, because the caller can correct it. */
export function unreachable(url: string, cause: unknown): CatracaError {
  return new CatracaError('ENGINE_UNAVAILABLE', `cannot reach ${url}: ${reason(cause)}`, { cause })
}

/** `fetch` says only "fetch failed" and has the reason in a chain of causes, some of them aggregates. */
function reason(error: unknown): string {
  let deepest = error as { code?: string; message?: string; cause?: unknown; errors?: unknown[] }
  for (let depth = 0; depth < 5; depth++) {
    const next = deepest.cause ?? deepest.errors?.[0]
    if (typeof next !== 'object' || next === null) break
    deepest = next
  }
  return deepest.code ?? deepest.message ?? 'no answer'
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}
