import { useEffect } from 'react'
import { announce } from '../parts/announcer.js'

/**
 * What has been typed and not saved, by the name of its form, and uploads that are being sent. It is kept while the tab is
 * open, so that another page, or signing in again, loses nothing; the browser asks before the tab is closed or loaded anew.
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

/** For somebody else, who must not find it. */
export function dropAllUnsaved(): void {
  unsaved.clear()
}

export function unsavedOf<T>(name: string): T | undefined {
  return unsaved.get(name) as T | undefined
}

/** Keeps what a form holds; undefined when nothing is changed. Leaving the page then tells that it is kept. */
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
