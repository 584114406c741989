import { useSyncExternalStore } from 'react'

/** Whether the server answered the last request. The layout says it once, for the whole page. */
let reachable = true
const listeners = new Set<() => void>()

export function noteReachable(next: boolean): void {
  if (next === reachable) return
  reachable = next
  for (const listener of listeners) listener()
}

export function useReachable(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => reachable,
  )
}
