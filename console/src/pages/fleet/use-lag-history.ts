import { useEffect, useState } from 'react'
import type { FleetView } from '../../api/client.js'

const MOST_POINTS = 600

export interface LagHistory {
  /** Seconds since 1970. */
  times: number[]
  /** How far the process that is furthest behind was behind, and the one in the middle, in ms. */
  worst: number[]
  median: number[]
}

const NOTHING: LagHistory = { times: [], worst: [], median: [] }

/** A point for each answer since the page was opened: the server keeps no history of the fleet. */
export function useLagHistory(fleet: FleetView, at: number | undefined): LagHistory {
  const [history, setHistory] = useState(NOTHING)
  // biome-ignore lint/correctness/useExhaustiveDependencies: one point for each answer, which `at` identifies.
  useEffect(() => {
    if (at === undefined) return
    const lags = fleet.processes.map(({ feedLagMs }) => feedLagMs).sort((a, b) => a - b)
    const add = (values: number[], value: number) => [...values, value].slice(-MOST_POINTS)
    setHistory(({ times, worst, median }) => ({
      times: add(times, at / 1000),
      worst: add(worst, lags.at(-1) ?? 0),
      median: add(median, lags[Math.floor(lags.length / 2)] ?? 0),
    }))
  }, [at])
  return history
}
