import { useState } from 'react'
import { type ApiProblem, toProblem } from '../api/client.js'

export interface Action<A extends unknown[]> {
  /** Resolves to true when it succeeded. */
  run(...args: A): Promise<boolean>
  running: boolean
  problem: ApiProblem | undefined
  reset(): void
}

/** An action of the user: runs once at a time, and keeps its error. */
export function useAction<A extends unknown[]>(act: (...args: A) => Promise<unknown>): Action<A> {
  const [running, setRunning] = useState(false)
  const [problem, setProblem] = useState<ApiProblem>()
  const run = async (...args: A): Promise<boolean> => {
    if (running) return false
    setRunning(true)
    setProblem(undefined)
    try {
      await act(...args)
      return true
    } catch (error) {
      setProblem(toProblem(error))
      return false
    } finally {
      setRunning(false)
    }
  }
  return { run, running, problem, reset: () => setProblem(undefined) }
}
