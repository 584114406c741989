import { CatracaApiError, type CatracaClient, type Problem } from '../client/index.js'
import { CatracaError, ERROR_CODES, type ErrorCode, isCatracaError } from '../core/errors.js'

/** The operations of the client, with the errors of the library. */
export type Calls = {
  /** The server returns what the library returns, so the result has the type that the caller expects. */
  [Name in keyof CatracaClient]: <T = Awaited<ReturnType<CatracaClient[Name]>>>(
    ...args: Parameters<CatracaClient[Name]>
  ) => Promise<T>
}

/** `url`: named in errors about the connection. */
export function callsOf(client: CatracaClient, url?: string): Calls {
  const calls = Object.entries(client).map(
    ([name, call]: [string, (...args: never[]) => Promise<unknown>]) => [
      name,
      (...args: never[]) =>
        call(...args).catch((error) => {
          throw libraryError(url, error)
        }),
    ],
  )
  return Object.fromEntries(calls) as Calls
}

/**
 * For calls that change something: a server that did not answer may have done it. A server that refused the connection
 * has not.
 */
export async function change<T>(call: Promise<T>): Promise<T> {
  return call.catch((error) => {
    if (!isCatracaError(error, 'ENGINE_UNAVAILABLE') || error.cause === undefined) throw error
    if (reason(error.cause) === 'ECONNREFUSED') throw error
    const message = `${error.message}: the change may have happened`
    throw new CatracaError('UNKNOWN_OUTCOME', message, { cause: error })
  })
}

/** The result, or undefined when the call fails with this code. */
export async function unless<T>(code: ErrorCode, call: Promise<T>): Promise<T | undefined> {
  return call.catch((error) => {
    if (isCatracaError(error, code)) return undefined
    throw error
  })
}

/** Whether what a call deletes existed: false when the call fails with this code. */
export const existed = async (code: ErrorCode, call: Promise<unknown>): Promise<boolean> =>
  (await unless(
    code,
    call.then(() => true),
  )) ?? false

/** The error that the library would throw. A message about the connection names the URL, which the user can correct. */
export function libraryError(url: string | undefined, error: unknown): CatracaError {
  const server = url?.replace(/\/+$/, '') ?? 'the server'
  if (!(error instanceof CatracaApiError)) return unreachable(server, error)
  const { code, status, message, errors } = error
  if (Object.hasOwn(ERROR_CODES, code)) {
    const facts = factsOf(error.body)
    return new CatracaError(code as ErrorCode, message, {
      ...(errors.length > 0 && { errors: [...errors] }),
      ...(Object.keys(facts).length > 0 && { facts }),
    })
  }
  if (code === 'UNREADABLE_ANSWER') return unavailable(`${server} answered something that is not JSON`, error)
  // A proxy, or another program on that port.
  if (status !== 0) return unavailable(`${server} answered ${status}, not as a Catraca server does`, error)
  if (code === 'TIMEOUT') return unavailable(`${server} did not answer in time`, error)
  return unreachable(server, code === 'UNREACHABLE' ? error.cause : error)
}

const unavailable = (message: string, cause: unknown) =>
  new CatracaError('ENGINE_UNAVAILABLE', message, { cause })

const unreachable = (server: string, cause: unknown) =>
  unavailable(`cannot reach ${server}: ${reason(cause)}`, cause)

/** The reason can be deep in a chain of causes, some of them aggregates. */
function reason(error: unknown): string {
  let deepest = error as { code?: string; message?: string; cause?: unknown; errors?: unknown[] }
  for (let depth = 0; depth < 5; depth++) {
    const next = deepest.cause ?? deepest.errors?.[0]
    if (typeof next !== 'object' || next === null) break
    deepest = next
  }
  return deepest.code ?? deepest.message ?? 'no answer'
}

/** What a problem says beside its standard members. */
function factsOf(problem: unknown): Record<string, unknown> {
  if (typeof problem !== 'object' || problem === null) return {}
  const { type, title, status, detail, code, errors, instance, requestId, ...facts } = problem as Problem
  return facts
}
