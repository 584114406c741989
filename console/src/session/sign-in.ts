import { ApiProblem, apiWith } from '../api/client.js'
import { currentKey, signedIn, signOut } from './store.js'

/** Begins a session with this key, or without one where the server needs none. Throws what the server says. */
export async function signIn(key: string | undefined): Promise<void> {
  signedIn(await apiWith(key).getSession(), key)
}

/** At the start: goes on with the key of this tab, or without one. */
export async function resume(): Promise<void> {
  const key = currentKey()
  try {
    await signIn(key)
  } catch (error) {
    const status = error instanceof ApiProblem ? error.status : 0
    if (status === 403) signOut('foreign')
    else signOut(status === 401 && key !== undefined ? 'refused' : 'start')
  }
}
