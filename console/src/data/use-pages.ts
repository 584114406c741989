import { useState } from 'react'

export interface Pages {
  /** To ask for the page that is shown; undefined for the first. */
  cursor: string | undefined
  number: number
  next(nextCursor: string): void
  previous(): void
}

/** Pages that are known by the cursor of the one before. Another `id` (a new search) begins at the first. */
export function usePages(id: string): Pages {
  const [state, setState] = useState<{ id: string; cursors: string[] }>({ id, cursors: [] })
  const cursors = state.id === id ? state.cursors : []
  return {
    cursor: cursors.at(-1),
    number: cursors.length + 1,
    next: (nextCursor) => setState({ id, cursors: [...cursors, nextCursor] }),
    previous: () => setState({ id, cursors: cursors.slice(0, -1) }),
  }
}
