import { useSyncExternalStore } from 'react'
import { dropAllUnsaved, hasUnsaved } from '../data/unsaved.js'
import { answerTabs, tellSignedOut } from './tabs.js'

export type Scope =
  | 'check'
  | 'read'
  | 'admin'
  | 'limits'
  | 'idempotency'
  | 'locks'
  | 'cache'
  | 'codes:issue'
  | 'codes:verify'
  | 'tokens:check'
  | 'tokens:revoke'

export interface SessionInfo {
  name: string | null
  scopes: readonly Scope[]
  keysRequired: boolean
  version: string
  /** Only for callers with the scope `read`. */
  store?: string | undefined
  /** Somebody who signed in with the provider, and has no key. */
  person?: { subject: string; roles: readonly string[]; signedInUntil: string } | undefined
  /** All that the roles of the person reach. Absent: everything. */
  limits?: { lists: readonly string[]; resources: readonly string[] } | undefined
}

/** Why there is no session. */
export type SignedOutBecause =
  | ('start' | 'chosen' | 'elsewhere' | 'refused' | 'idle' | 'foreign')
  /** Of a person: the session ended at the server, or could not be ended there. */
  | ('ended' | 'not-ended')
  | SignInFailure

/** Why somebody came back from the provider without a session. */
export const SIGN_IN_FAILURES = ['denied', 'no-role', 'expired', 'failed', 'away', 'busy'] as const
export type SignInFailure = (typeof SIGN_IN_FAILURES)[number]

export type Session =
  | { status: 'starting' }
  | { status: 'signed-out'; because: SignedOutBecause }
  | { status: 'signed-in'; info: SessionInfo }

/**
 * Session storage, which ends with the tab. Other tabs may request the key (`tabs.ts`); persistent storage never
 * holds it.
 */
const STORAGE_NAME = 'catraca.key'

let key: string | undefined = read()
let session: Session = { status: 'starting' }
const listeners = new Set<() => void>()

function read(): string | undefined {
  try {
    return sessionStorage.getItem(STORAGE_NAME) ?? undefined
  } catch {
    return undefined
  }
}

function keep(value: string | undefined): void {
  key = value
  try {
    if (value === undefined) sessionStorage.removeItem(STORAGE_NAME)
    else sessionStorage.setItem(STORAGE_NAME, value)
  } catch {
    // Storage may be forbidden: a reload then ends the session.
  }
}

function change(next: Session): void {
  session = next
  for (const listener of listeners) listener()
}

export const currentKey = (): string | undefined => key

/** The name of the last signed-in caller. */
let lastName: string | null | undefined

/** The name of the key for which something is kept that is not saved. */
export const unsavedFor = (): string | undefined => (hasUnsaved() ? (lastName ?? undefined) : undefined)

/** True when what another one had not saved is dropped by it. */
export function signedIn(info: SessionInfo, withKey: string | undefined): boolean {
  const isDropped = lastName !== undefined && lastName !== info.name && hasUnsaved()
  if (isDropped) dropAllUnsaved()
  lastName = info.name
  keep(withKey)
  change({ status: 'signed-in', info })
  return isDropped
}

export function signOut(because: SignedOutBecause): void {
  if (because === 'chosen') tellSignedOut()
  const isPerson = session.status === 'signed-in' && session.info.person !== undefined
  endSession(isPerson && because === 'refused' ? 'ended' : because)
  if (isPerson && (because === 'chosen' || because === 'idle')) void endAtServer(because)
}

/** No script can read or delete the cookie of a person's session, so the server ends it. */
async function endAtServer(because: SignedOutBecause): Promise<void> {
  try {
    const answer = await fetch('/sign-out', { method: 'POST' })
    if (!answer.ok) throw new Error(`status ${answer.status}`)
    const { location: provider } = (await answer.json()) as { location?: string }
    if (because === 'chosen' && provider !== undefined) location.assign(provider)
  } catch {
    endSession('not-ended')
  }
}

function endSession(because: SignedOutBecause): void {
  keep(undefined)
  change({ status: 'signed-out', because })
}

/** Set at the start: signs in with the key of another tab. It would be a circle of imports otherwise. */
let signInWith: ((key: string) => void) | undefined
export function onKeyOfOtherTab(listener: (key: string) => void): void {
  signInWith = listener
}

answerTabs({
  key: () => (session.status === 'signed-in' ? key : undefined),
  signedIn: (given) => {
    // What is not saved here belongs to a key: its owner signs in here.
    if (session.status === 'signed-out' && unsavedFor() === undefined) signInWith?.(given)
  },
  // What is not saved here is kept: only the other tab has asked whether it may be dropped there.
  signedOut: () => endSession('elsewhere'),
})

export function useSession(): Session {
  return useSyncExternalStore(subscribe, () => session)
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export interface SignedIn extends SessionInfo {
  can(scope: Scope): boolean
  /** Whether no role limits the caller to some lists and resources. The server closes the rest of the calls to those. */
  reachesAll: boolean
}

/** The session, for pages, which are shown only with one. */
export function useSignedIn(): SignedIn {
  const current = useSession()
  if (current.status !== 'signed-in') throw new Error('used outside of a session')
  const { info } = current
  return { ...info, can: (scope) => allows(info, scope), reachesAll: info.limits === undefined }
}

/** `admin` includes `read` and `check`; no other scope includes another. */
export function allows({ scopes }: SessionInfo, scope: Scope): boolean {
  return scopes.includes(scope) || (scopes.includes('admin') && (scope === 'read' || scope === 'check'))
}
