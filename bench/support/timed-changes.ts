import type { ChildProcess } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'

/** A write that a check with its token must see. */
export interface Asked {
  id: string
  removed: boolean
  token: string
}

interface Writing {
  seconds: number
  changesPerSecond: number
  tickMs: number
  /** Two writes in so many are asked for with their tokens, in every pod. */
  askedEvery: number
  add(id: string): Promise<{ token: string }>
  remove(id: string): Promise<{ token: string }>
  pods(): readonly ChildProcess[]
  /** Whether to go on, so many milliseconds after the begin. */
  isGoingOn(ms: number): boolean
}

/**
 * Adds members at a steady rate, and removes every second of them later. As many writes as it takes are under way at
 * once. Tells when each change was acknowledged, `+id` or `-id`.
 */
export async function writeAtPace(writing: Writing): Promise<Map<string, number>> {
  const { seconds, changesPerSecond, askedEvery } = writing
  const ackedAtMs = new Map<string, number>()
  const begin = performance.now()
  const writes: Promise<void>[] = []
  let asked: Asked[] = []
  // Odd, so that only customers with an even number are removed.
  const removedAfter = 2 * Math.floor((seconds * changesPerSecond) / 8) + 1
  const isAsked = (i: number): boolean => i % askedEvery < 2
  const change = async (i: number): Promise<void> => {
    // A check for an add may come late on a busy machine, so who is asked for is not removed.
    const removed = i % 2 === 1 && i > removedAfter && !isAsked(i - removedAfter)
    const id = `fresh-${removed ? i - removedAfter : i}`
    if (removed) await writes[i - removedAfter]
    const { token } = removed ? await writing.remove(id) : await writing.add(id)
    ackedAtMs.set((removed ? '-' : '+') + id, performance.timeOrigin + performance.now())
    if (isAsked(i)) asked.push({ id, removed, token })
  }
  const tellPods = (): void => {
    for (const pod of writing.pods()) if (pod.connected) pod.send({ type: 'ask', asked })
    asked = []
  }
  while (writing.isGoingOn(performance.now() - begin)) {
    const due = Math.floor(((performance.now() - begin) / 1000) * changesPerSecond)
    while (writes.length < due) writes.push(change(writes.length))
    tellPods()
    await sleep(writing.tickMs)
  }
  await Promise.all(writes)
  tellPods()
  return ackedAtMs
}

/** Median, 99th percentile and maximum of the delays from an acknowledgement to the arrival in a pod. */
export function delayFigures(delays: number[]) {
  delays.sort((a, b) => a - b)
  const at = (share: number) => delays[Math.min(delays.length - 1, Math.floor(share * delays.length))]!
  return { delayP50Ms: at(0.5), delayP99Ms: at(0.99), delayMaxMs: at(1) }
}
