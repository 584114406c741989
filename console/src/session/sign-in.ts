import { ApiProblem, apiWith } from '../api/client.js'
import { failureOfSignIn } from './provider.js'
import { currentKey, onKeyOfOtherTab, signedIn, signOut } from './store.js'
import { askTabs, tellSignedIn } from './tabs.js'

/**
 * Begins a session with this key, or without one where the server needs none. Throws what the server says. True when
 * what was not saved under another key is dropped by it.
 */
export async function signIn(key: string | undefined): Promise<boolean> {
  const isDropped = signedIn(await apiWith(key).getSession(), key)
  if (key !== undefined) tellSignedIn(key)
  return isDropped
}

onKeyOfOtherTab((key) => void attempt(key))

/** Called at the start: continues with the key of this tab, of another tab, or without a key. */
export async function resume(): Promise<void> {
  const failure = failureOfSignIn()
  const key = currentKey()
  const status = await attempt(key)
  if (status === 200) return
  if (status === 403) return signOut('foreign')
  const shared = status === 401 && key === undefined ? await askTabs() : undefined
  if (shared !== undefined && (await attempt(shared)) === 200) return
  signOut(failure ?? (status === 401 && key !== undefined ? 'refused' : 'start'))
}

async function attempt(key: string | undefined): Promise<number> {
  try {
    await signIn(key)
    return 200
  } catch (error) {
    return error instanceof ApiProblem ? error.status : 0
  }
}
