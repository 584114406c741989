import { useCallback, useEffect, useRef, useState } from 'react'
import { type ApiProblem, toProblem } from '../api/client.js'
import { serverNow } from '../api/server-clock.js'

export interface Query<T> {
  data: T | undefined
  /** When the data arrived, by the clock of the browser. */
  at: number | undefined
  problem: ApiProblem | undefined
  /** Nothing to show yet. */
  loading: boolean
  /** A request is in flight, with or without data to show. */
  asking: boolean
  reload(): void
}

/** A server that does not answer is asked again this long afterwards. */
const UNREACHABLE_RETRY_MS = 3_000

export interface QueryOptions {
  /** Repeats the request this long after each response, while the tab is visible. */
  pollMs?: number
  /** No request while false. */
  enabled?: boolean
  /** Shows the data of the previous id until the new data arrives. */
  keepPrevious?: boolean
}

interface State<T> {
  id: string
  data?: T | undefined
  at?: number | undefined
  problem?: ApiProblem | undefined
}

/**
 * Loads data identified by `id`: another id is another request. A request that is no longer needed is aborted, and
 * its response is never shown.
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

  // biome-ignore lint/correctness/useExhaustiveDependencies: `round` repeats the request.
  useEffect(() => {
    if (!enabled) return setAsking(false)
    const controller = new AbortController()
    const { signal } = controller
    let timer: ReturnType<typeof setTimeout> | undefined
    const ask = async (): Promise<void> => {
      setAsking(true)
      let nextMs = pollMs
      try {
        const data = await latest.current(signal)
        if (!signal.aborted) setState({ id, data, at: serverNow() })
      } catch (error) {
        const problem = toProblem(error)
        if (problem.code === 'UNREACHABLE') nextMs ??= UNREACHABLE_RETRY_MS
        // Known data stays visible beside the error, unless the error is that the object no longer exists.
        const isGone = problem.status === 404
        if (!signal.aborted) setState((old) => ({ ...(old.id === id && !isGone ? old : { id }), problem }))
      }
      if (signal.aborted) return
      setAsking(false)
      if (nextMs !== undefined) timer = setTimeout(poll, nextMs)
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
