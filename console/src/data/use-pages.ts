import { useState } from 'react'

export interface Pages {
  /** To ask for the page that is shown; undefined for the first. */
  cursor: string | undefined
  number: number
  next(nextCursor: string): void
  previous(): void
}

interface Place {
  id: string
  cursors: string[]
}

/** Pages that are known by the cursor of the one before. Another `id` (a new search) begins at the first. */
export function usePages(id: string): Pages {
  const [state, setState] = useState<Place>(() => placeOf(id))
  const cursors = state.id === id ? state.cursors : []
  const go = (next: string[]): void => {
    const place = { id, cursors: next }
    // In the history of the tab, so that who comes back comes back to the same page.
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
