import { useEffect } from 'react'
import { signOut } from './store.js'

export const IDLE_LIMIT_MS = 30 * 60_000
const LOOK_EVERY_MS = 15_000
const SIGNS_OF_LIFE = ['pointerdown', 'keydown', 'wheel', 'touchstart'] as const

/** Signs out after inactivity. Compares times, because timers stop while a machine sleeps. */
export function useIdleSignOut(active: boolean): void {
  useEffect(() => {
    if (!active) return
    let lastSeenMs = Date.now()
    const look = (): boolean => {
      const idle = Date.now() - lastSeenMs >= IDLE_LIMIT_MS
      if (idle) signOut('idle')
      return idle
    }
    const seen = (): void => {
      if (!look()) lastSeenMs = Date.now()
    }
    const timer = setInterval(look, LOOK_EVERY_MS)
    for (const name of SIGNS_OF_LIFE) addEventListener(name, seen, { passive: true, capture: true })
    document.addEventListener('visibilitychange', look)
    return () => {
      clearInterval(timer)
      for (const name of SIGNS_OF_LIFE) removeEventListener(name, seen, { capture: true })
      document.removeEventListener('visibilitychange', look)
    }
  }, [active])
}
