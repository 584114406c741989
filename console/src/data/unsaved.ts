import { useEffect } from 'react'
import { announce } from '../parts/announcer.js'

/**
 * Unsaved input by the name of its form, and uploads in progress. It is kept while the tab is open, so that another
 * page or a new sign-in loses nothing. The browser asks before the tab is closed or reloaded.
 */
const unsaved = new Map<string, unknown>()

addEventListener('beforeunload', (event) => {
  if (unsaved.size > 0) event.preventDefault()
})

export const hasUnsaved = (): boolean => unsaved.size > 0

export function keepUnsaved(name: string, value: unknown): void {
  unsaved.set(name, value)
}

export function dropUnsaved(name: string): void {
  unsaved.delete(name)
}

/** Called when another user signs in, who must not see it. */
export function dropAllUnsaved(): void {
  unsaved.clear()
}

export function unsavedOf<T>(name: string): T | undefined {
  return unsaved.get(name) as T | undefined
}

/** Keeps the unsaved input of a form; undefined when there is none. Leaving the page then shows that it is kept. */
export function useUnsaved(name: string, value: unknown, keptText: string): void {
  useEffect(() => {
    if (value === undefined) unsaved.delete(name)
    else unsaved.set(name, value)
  }, [name, value])
  useEffect(
    () => () => {
      if (unsaved.has(name)) announce(keptText)
    },
    [name, keptText],
  )
}
