/**
 * Tabs of one browser share a session: a new tab requests the key from signed-in tabs. The key is sent from memory to
 * memory within the origin, and nothing stores it after the last tab is closed.
 */
type Message =
  | { type: 'ask' }
  | { type: 'key'; key: string }
  | { type: 'signed-in'; key: string }
  | { type: 'signed-out' }
  | { type: 'active' }

const PATIENCE_MS = 300

const channel = typeof BroadcastChannel === 'undefined' ? undefined : new BroadcastChannel('catraca.session')

const send = (message: Message): void => channel?.postMessage(message)

export interface TabEvents {
  /** The key of this tab, while it is signed in. */
  key(): string | undefined
  /** Another tab signed in while this one is signed out. */
  signedIn(key: string): void
  signedOut(): void
}

export function answerTabs({ key, signedIn, signedOut }: TabEvents): void {
  channel?.addEventListener('message', ({ data }: MessageEvent<Message>) => {
    const own = key()
    if (data.type === 'ask' && own !== undefined) send({ type: 'key', key: own })
    if (data.type === 'signed-in' && own === undefined) signedIn(data.key)
    if (data.type === 'signed-out' && own !== undefined) signedOut()
  })
}

/** Signing in in one tab signs in tabs that wait for a key. */
export const tellSignedIn = (key: string): void => send({ type: 'signed-in', key })

/** A sign of life in one tab keeps all tabs signed in. */
export const tellActive = (): void => send({ type: 'active' })

export function onActive(seen: () => void): () => void {
  const heard = ({ data }: MessageEvent<Message>): void => {
    if (data.type === 'active') seen()
  }
  channel?.addEventListener('message', heard)
  return () => channel?.removeEventListener('message', heard)
}

/** Signing out in one tab signs out all tabs. */
export const tellSignedOut = (): void => send({ type: 'signed-out' })

/** The key of another signed-in tab; undefined when there is none. */
export function askTabs(): Promise<string | undefined> {
  return new Promise((resolve) => {
    const end = (key: string | undefined): void => {
      channel?.removeEventListener('message', heard)
      clearTimeout(timer)
      resolve(key)
    }
    const heard = ({ data }: MessageEvent<Message>): void => {
      if (data.type === 'key') end(data.key)
    }
    const timer = setTimeout(end, channel === undefined ? 0 : PATIENCE_MS, undefined)
    channel?.addEventListener('message', heard)
    send({ type: 'ask' })
  })
}
