import { Fleet, type ProcessFigures } from '../../src/guards/fleet/index.js'
import type { FleetStore } from '../../src/guards/fleet/port.js'

export const PODS = 40

export const quiet: ProcessFigures = {
  ...{ lists: 0, staleLists: 0, feedLagMs: 0, followed: [] },
  ...{ checks: 0, errors: 0, degraded: 0 },
}

/** Processes that share a store and announce themselves only when told to, and one that only looks. */
export function pods(store: FleetStore, now: () => number, figures = (_pod: number) => quiet) {
  // The interval of announcements is for the timer only, which never comes here.
  const still: FleetStore = {
    announceMs: 2 ** 30,
    expireMs: store.expireMs,
    announce: (...args) => store.announce(...args),
    leave: (id) => store.leave(id),
    list: (at) => store.list(at),
  }
  const open = (announce: boolean, pod: number) =>
    new Fleet({
      store: announce ? still : store,
      engine: 'test',
      clock: { now },
      options: { enabled: true, announce, name: `pod-${String(pod).padStart(2, '0')}` },
      figures: () => figures(pod),
      nowMs: now,
    })
  return {
    fleets: Array.from({ length: PODS }, (_, pod) => open(true, pod)),
    /** A new one each time: a process asks the store no more often than the answer can have changed. */
    viewer: () => open(false, PODS),
  }
}

/** Waits also for the announcement of the start. */
export async function announced(fleets: readonly Fleet[]): Promise<void> {
  await Promise.all(
    fleets.map(async (fleet) => {
      await fleet.announced()
      await fleet.announce()
    }),
  )
}
