import { currentKey, signOut } from '../session/store.js'
import { ApiProblem, type FieldError } from './problem.js'

export interface RequestOptions {
  query?: Record<string, string | number | boolean | undefined>
  body?: unknown
  headers?: Record<string, string>
  signal?: AbortSignal | undefined
}

/** Calls the server with the session's key. A refused key ends the session. */
export async function request<T>(method: string, path: string, options: RequestOptions = {}): Promise<T> {
  const key = currentKey()
  const response = await send(method, path, options, key)
  if (response.status === 401 && key === currentKey()) signOut('refused')
  if (!response.ok) throw await problemOf(response)
  return (response.status === 204 ? undefined : await response.json()) as T
}

export async function send(
  method: string,
  path: string,
  { query, body, headers, signal }: RequestOptions,
  key: string | undefined,
): Promise<Response> {
  try {
    return await fetch(path + queryText(query), {
      method,
      headers: {
        accept: 'application/json',
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
      credentials: 'omit',
      cache: 'no-store',
      redirect: 'error',
    })
  } catch (error) {
    if (signal?.aborted) throw error
    throw new ApiProblem(0, 'NETWORK', String((error as Error).message))
  }
}

export function queryText(query: RequestOptions['query'] = {}): string {
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  return pairs.length === 0
    ? ''
    : `?${new URLSearchParams(pairs.map(([name, value]) => [name, String(value)]))}`
}

/** One part of a path; identifiers may hold characters that a path would split at. */
export const segment = (id: string): string => encodeURIComponent(id)

export async function problemOf(response: Response): Promise<ApiProblem> {
  const body = (await response.json().catch(() => ({}))) as {
    code?: string
    detail?: string
    errors?: FieldError[]
    requestId?: string
  }
  const { code = `HTTP_${response.status}`, detail = response.statusText, errors, requestId } = body
  return new ApiProblem(response.status, code, detail, errors, requestId)
}
