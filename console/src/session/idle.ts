import { useEffect } from 'react'
import { signOut } from './store.js'
import { onActive, tellActive } from './tabs.js'

export const IDLE_LIMIT_MS = 30 * 60_000
const LOOK_EVERY_MS = 15_000
/** Other tabs hear of activity this often. */
const TELL_EVERY_MS = 10_000
const SIGNS_OF_LIFE = ['pointerdown', 'keydown', 'wheel', 'touchstart'] as const

/** Signs out after inactivity. Compares times, because timers stop while a machine sleeps. */
export function useIdleSignOut(active: boolean): void {
  useEffect(() => {
    if (!active) return
    let lastSeenMs = Date.now()
    let lastToldMs = 0
    const look = (): boolean => {
      const idle = Date.now() - lastSeenMs >= IDLE_LIMIT_MS
      if (idle) signOut('idle')
      return idle
    }
    const seen = (): void => {
      if (look()) return
      lastSeenMs = Date.now()
      if (lastSeenMs - lastToldMs < TELL_EVERY_MS) return
      lastToldMs = lastSeenMs
      tellActive()
    }
    const stopHearing = onActive(() => {
      lastSeenMs = Date.now()
    })
    const timer = setInterval(look, LOOK_EVERY_MS)
    for (const name of SIGNS_OF_LIFE) addEventListener(name, seen, { passive: true, capture: true })
    document.addEventListener('visibilitychange', look)
    return () => {
      clearInterval(timer)
      stopHearing()
      for (const name of SIGNS_OF_LIFE) removeEventListener(name, seen, { capture: true })
      document.removeEventListener('visibilitychange', look)
    }
  }, [active])
}
