interface Swept {
  hasDue(now: number): boolean
  sweep(now: number): Promise<{ more: boolean }>
}

/** Sweeps look first on the calling thread. So a process with nothing to delete needs no writer thread, which takes 13 MB. */
export function lookingFirst<Store extends Swept>(forwarded: Store): Store {
  const sweep: Swept['sweep'] = forwarded.sweep.bind(forwarded)
  const looking: Swept['sweep'] = async (now) =>
    forwarded.hasDue(now) ? sweep(now) : { swept: 0, more: false }
  return Object.assign(forwarded, { sweep: looking })
}
