import { CatracaApiError, errorOf } from './api-error.js'
import { OPERATIONS, type Operations } from './generated.js'
import type { CallOptions, OperationFacts } from './operation.js'
import { type Input, requestOf } from './request.js'

export interface ClientOptions {
  /** Such as `http://127.0.0.1:8080`. In a browser an empty URL means the server of the page. */
  url: string
  /** The API key. A function is called before each request, so that the key can change. */
  key?: string | (() => string | undefined) | undefined
  /**
   * Time limit for the start of a response, and for the end of one that is not a stream; 30 seconds when absent, 0
   * waits for ever.
   */
  timeoutMs?: number | undefined
  /** Why this client makes changes, for the audit trail. */
  reason?: string | undefined
  /** Replaces the global `fetch`. */
  fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined
}

const TIMEOUT_MS = 30_000

export type CatracaClient = Operations

/** A typed client: one method for each operation of the API. Uses nothing but `fetch`. */
export function createClient(options: ClientOptions): CatracaClient {
  const methods = Object.entries(OPERATIONS).map(([name, facts]) => [
    name,
    (input: Input = {}, call: CallOptions = {}) => perform(options, facts, input, call),
  ])
  return Object.fromEntries(methods) as CatracaClient
}

async function perform(
  options: ClientOptions,
  facts: OperationFacts,
  input: Input,
  { signal, timeoutMs = options.timeoutMs ?? TIMEOUT_MS, onHeaders, reason = options.reason }: CallOptions,
): Promise<unknown> {
  const { url, init } = requestOf(facts, input, options.url, keyOf(options), reason)
  const clock = timer(signal, facts.body === 'stream' ? 0 : timeoutMs)
  let isStreaming = false
  try {
    const response = await (options.fetch ?? globalThis.fetch)(url, { ...init, signal: clock.signal })
    onHeaders?.(response.headers)
    if (!response.ok) throw await errorOf(response)
    isStreaming = facts.answer === 'stream'
    if (isStreaming) return response
    const text = await response.text()
    return text === '' ? undefined : readJson(text, response.status)
  } catch (error) {
    throw error instanceof CatracaApiError ? error : unanswered(error, clock.isOver(), signal)
  } finally {
    clock.stop(isStreaming)
  }
}

/** Checked here: otherwise the error of `fetch` would contain the key. */
function keyOf({ key: given }: ClientOptions): string | undefined {
  const key = (typeof given === 'function' ? given() : given)?.trim()
  if (key === undefined || /^[\x21-\x7e]+$/.test(key)) return key
  const errors = [{ path: 'key', message: 'must be printable ASCII without spaces' }]
  throw new CatracaApiError('the key cannot be sent', { code: 'INVALID_INPUT', status: 0, errors })
}

/**
 * Aborts the call at its timeout or by the caller's signal. Once a stream has started, only the caller's signal ends
 * it.
 */
function timer(signal: AbortSignal | undefined, timeoutMs: number) {
  const stop = new AbortController()
  let isOver = false
  const end = () => stop.abort(signal?.reason)
  if (signal?.aborted) end()
  signal?.addEventListener('abort', end, { once: true })
  const late = () => {
    isOver = true
    stop.abort()
  }
  const timeout = timeoutMs > 0 ? setTimeout(late, timeoutMs) : undefined
  return {
    signal: stop.signal,
    isOver: () => isOver,
    stop: (isStream: boolean) => {
      clearTimeout(timeout)
      if (!isStream) signal?.removeEventListener('abort', end)
    },
  }
}

function readJson(text: string, status: number): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new CatracaApiError('the server answered something that is not JSON', {
      code: 'UNREADABLE_ANSWER',
      status,
      cause,
    })
  }
}

function unanswered(cause: unknown, isLate: boolean, signal: AbortSignal | undefined): CatracaApiError {
  if (isLate) return new CatracaApiError('no answer in time', { code: 'TIMEOUT', status: 0, cause })
  if (signal?.aborted) return new CatracaApiError('given up', { code: 'ABORTED', status: 0, cause })
  return new CatracaApiError('the server cannot be reached', { code: 'UNREACHABLE', status: 0, cause })
}
