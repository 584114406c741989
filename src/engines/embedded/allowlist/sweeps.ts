import type { Environment } from '../lmdb/environment.js'

/** Work that remains after a change that took effect at once. Each can be repeated from its start without harm. */
export type Sweep =
  /** All rows of a deleted list. */
  | { kind: 'list'; no: number; id: string }
  /** Rows that no generation sees any more, after a replace. */
  | { kind: 'generation'; no: number; id: string; generation: number }
  /** Rows that a replace wrote before it was abandoned. */
  | { kind: 'undo'; no: number; id: string; generation: number }
  /** A running replace. It is abandoned when its import dies. */
  | { kind: 'watch'; no: number; id: string; generation: number; importId: string }

export const sweepKey = (sweep: Sweep): string =>
  `${sweep.kind}/${sweep.no}/${sweep.kind === 'list' ? 0 : sweep.generation}`

/** In a write transaction. */
export function addSweep(environment: Environment, sweep: Sweep): void {
  environment.sweeps.putSync(sweepKey(sweep), JSON.stringify(sweep))
}

/** In a write transaction. */
export function dropSweep(environment: Environment, sweep: Sweep): void {
  environment.sweeps.removeSync(sweepKey(sweep))
}

export function pendingSweeps(environment: Environment, limit: number): Sweep[] {
  return Array.from(environment.sweeps.getRange({ limit }), ({ value }) => JSON.parse(value) as Sweep)
}
