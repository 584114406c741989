import { CatracaApiError, type CatracaClient, createClient } from '../../../src/client/index.js'
import { currentKey, signOut } from '../session/store.js'
import { fieldWords } from '../texts/server-words.js'
import { noteReachable } from './connection.js'
import { fetchTimed } from './server-clock.js'

export type * from '../../../src/client/generated.js'
export { CatracaApiError as ApiProblem } from '../../../src/client/index.js'

/** A person has no key: the browser has a cookie, which the client sends nowhere by itself. */
const fetchWithSession: typeof fetch = (input, init) =>
  fetchTimed(input, { ...init, credentials: 'same-origin' })

/** The API client with the key of the session. A refused key ends the session. */
export const api: CatracaClient = createClient({
  url: '',
  key: currentKey,
  fetch: async (input, init) => {
    const key = currentKey()
    const response = await fetchWithSession(input, init).catch((error: unknown) => {
      if (init?.signal?.aborted !== true) noteReachable(false)
      throw error
    })
    noteReachable(true)
    if (response.status === 401 && key === currentKey()) signOut('refused')
    return response
  },
})

/** The API as somebody with this key sees it, without any effect on the session. */
export const apiWith = (key: string | undefined): CatracaClient =>
  createClient({ url: '', key, fetch: fetchWithSession })

/** Messages of browsers when a page of the console cannot be loaded. */
const NOT_LOADED = /dynamically imported module|Importing a module script failed|Unable to preload/i

export function toProblem(error: unknown): CatracaApiError {
  if (error instanceof CatracaApiError) return error
  const message = error instanceof Error ? error.message : String(error)
  if (NOT_LOADED.test(message))
    return new CatracaApiError(message, { code: 'UNREACHABLE', status: 0, cause: error })
  return new CatracaApiError(message, { code: 'UNEXPECTED', status: 0, cause: error })
}

/** The message for one field of a form. */
export function fieldProblem(problem: CatracaApiError | undefined, path: string): string | undefined {
  const message = problem?.errors.find((error) => error.path === path)?.message
  return message === undefined ? undefined : fieldWords(message)
}
