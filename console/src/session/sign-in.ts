import { problemOf, send } from '../api/request.js'
import { currentKey, type SessionInfo, signedIn, signOut } from './store.js'

/** Begins a session with this key, or without one where the server needs none. Throws what the server says. */
export async function signIn(key: string | undefined): Promise<void> {
  const response = await send('GET', '/session', {}, key)
  if (!response.ok) throw await problemOf(response)
  signedIn((await response.json()) as SessionInfo, key)
}

/** At the start: goes on with the key of this tab, or without one. */
export async function resume(): Promise<void> {
  const key = currentKey()
  try {
    await signIn(key)
  } catch (error) {
    const { status } = error as { status?: number }
    if (status === 403) signOut('foreign')
    else signOut(status === 401 && key !== undefined ? 'refused' : 'start')
  }
}
