import { useState } from 'react'

export interface Pages {
  /** Cursor of the page that is shown; undefined for the first one. */
  cursor: string | undefined
  number: number
  next(nextCursor: string): void
  previous(): void
}

interface Place {
  id: string
  cursors: string[]
}

/** Pages by cursor. Another `id` (a new search) starts at the first page. */
export function usePages(id: string): Pages {
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
    next: (nextCursor) => go([...cursors, nextCursor]),
    previous: () => go(cursors.slice(0, -1)),
  }
}

function placeOf(id: string): Place {
  const { pages } = (history.state ?? {}) as { pages?: Place }
  return pages?.id === id ? pages : { id, cursors: [] }
}
