import { useSyncExternalStore } from 'react'

interface Announcement {
  text: string
  /** Increments, so that a repeated text is announced again. */
  number: number
}

const SHOWN_MS = 5_000

let current: Announcement = { text: '', number: 0 }
let timer: ReturnType<typeof setTimeout> | undefined
const listeners = new Set<() => void>()

function show(text: string): void {
  current = { text, number: current.number + 1 }
  for (const listener of listeners) listener()
}

/** Tells the user that an action was done: shown for a moment, and announced to screen readers. */
export function announce(text: string): void {
  clearTimeout(timer)
  show(text)
  timer = setTimeout(() => show(''), SHOWN_MS)
}

export function Announcer() {
  const { text, number } = useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => current,
  )
  return (
    <div className="announcer" role="status" aria-live="polite">
      {text !== '' && <span key={number}>{text}</span>}
    </div>
  )
}
