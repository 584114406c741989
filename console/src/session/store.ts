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
  /** Only for keys with the scope `read`. */
  store?: string | undefined
}

/** Why there is no session. */
export type SignedOutBecause = 'start' | 'chosen' | 'elsewhere' | 'refused' | 'idle' | 'foreign'

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
  endSession(because)
}

function endSession(because: SignedOutBecause): void {
  keep(undefined)
  change({ status: 'signed-out', because })
}

answerTabs({
  key: () => (session.status === 'signed-in' ? key : undefined),
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

/** The session, for pages, which are shown only with one. */
export function useSignedIn(): SessionInfo & { can(scope: Scope): boolean } {
  const current = useSession()
  if (current.status !== 'signed-in') throw new Error('used outside of a session')
  const { info } = current
  return { ...info, can: (scope) => allows(info, scope) }
}

/** `admin` includes `read` and `check`; no other scope includes another. */
export function allows({ scopes }: SessionInfo, scope: Scope): boolean {
  return scopes.includes(scope) || (scopes.includes('admin') && (scope === 'read' || scope === 'check'))
}
