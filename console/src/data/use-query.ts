import { useCallback, useEffect, useRef, useState } from 'react'
import { type ApiProblem, toProblem } from '../api/client.js'
import { serverNow } from '../api/server-clock.js'

export interface Query<T> {
  data: T | undefined
  /** When the data came, by the clock of the server. */
  at: number | undefined
  problem: ApiProblem | undefined
  /** Nothing to show yet. */
  loading: boolean
  /** Asking, with or without something to show meanwhile. */
  asking: boolean
  reload(): void
}

export interface QueryOptions {
  /** Asks again this long after each answer, while the tab is visible. */
  pollMs?: number
  /** Waits while false. */
  enabled?: boolean
  /** Shows the old answer until the new question is answered, instead of nothing. */
  keepPrevious?: boolean
}

interface State<T> {
  id: string
  data?: T | undefined
  at?: number | undefined
  problem?: ApiProblem | undefined
}

/**
 * The answer to a question that `id` names: another id is another question. A question that is no longer wanted is
 * aborted, and its answer never shown.
 */
export function useQuery<T>(
  id: string,
  load: (signal: AbortSignal) => Promise<T>,
  { pollMs, enabled = true, keepPrevious = false }: QueryOptions = {},
): Query<T> {
  const [state, setState] = useState<State<T>>({ id })
  const [asking, setAsking] = useState(enabled)
  const [round, setRound] = useState(0)
  const latest = useRef(load)
  latest.current = load

  // biome-ignore lint/correctness/useExhaustiveDependencies: `round` asks again.
  useEffect(() => {
    if (!enabled) return setAsking(false)
    const controller = new AbortController()
    const { signal } = controller
    let timer: ReturnType<typeof setTimeout> | undefined
    const ask = async (): Promise<void> => {
      setAsking(true)
      try {
        const data = await latest.current(signal)
        if (!signal.aborted) setState({ id, data, at: serverNow() })
      } catch (error) {
        const problem = toProblem(error)
        // What was known stays visible beside the problem, unless the problem is that it is gone.
        const isGone = problem.status === 404
        if (!signal.aborted) setState((old) => ({ ...(old.id === id && !isGone ? old : { id }), problem }))
      }
      if (signal.aborted) return
      setAsking(false)
      if (pollMs !== undefined) timer = setTimeout(poll, pollMs)
    }
    const poll = (): void => {
      if (document.hidden) document.addEventListener('visibilitychange', poll, { once: true, signal })
      else void ask()
    }
    void ask()
    return () => {
      controller.abort()
      clearTimeout(timer)
    }
  }, [id, enabled, pollMs, round])

  const reload = useCallback(() => setRound((count) => count + 1), [])
  const current = state.id === id
  const data = current || keepPrevious ? state.data : undefined
  const problem = current ? state.problem : undefined
  const loading = data === undefined && problem === undefined && enabled
  return { data, at: data === undefined ? undefined : state.at, problem, asking, loading, reload }
}
