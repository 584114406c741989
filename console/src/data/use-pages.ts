import { useState } from 'react'
import { remember, remembered } from '../preferences.js'

export const PAGE_SIZES = [10, 25, 50, 100, 250] as const

export interface Pages {
  /** Cursor of the page that is shown; undefined for the first one. */
  cursor: string | undefined
  number: number
  /** Rows of a page. */
  size: number
  setSize(size: number): void
  next(nextCursor: string): void
  previous(): void
}

interface Place {
  id: string
  cursors: string[]
}

function chosenSize(usual: number): number {
  const chosen = Number(remembered('rows'))
  return PAGE_SIZES.find((size) => size === chosen) ?? usual
}

/** Pages by cursor. Another `id` (a new search) or another size starts at the first page. */
export function usePages(name: string, usualSize = 25): Pages {
  const [size, setSize] = useState(() => chosenSize(usualSize))
  const id = `${size} ${name}`
  const [state, setState] = useState<Place>(() => placeOf(id))
  const cursors = state.id === id ? state.cursors : []
  const go = (next: string[]): void => {
    const place = { id, cursors: next }
    // Stored in the history of the tab, so that going back shows the same page.
    history.replaceState({ ...history.state, pages: place }, '')
    setState(place)
  }
  return {
    cursor: cursors.at(-1),
    number: cursors.length + 1,
    size,
    setSize: (next) => {
      remember('rows', String(next))
      setSize(next)
    },
    next: (nextCursor) => go([...cursors, nextCursor]),
    previous: () => go(cursors.slice(0, -1)),
  }
}

function placeOf(id: string): Place {
  const { pages } = (history.state ?? {}) as { pages?: Place }
  return pages?.id === id ? pages : { id, cursors: [] }
}
