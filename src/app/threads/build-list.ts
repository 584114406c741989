import { systemClock } from '../../core/clock.js'
import { buildIndex } from '../../guards/allowlist/membership/build.js'
import type { AllowlistEngine } from '../../guards/allowlist/port.js'
import type { BuildResult, BuildTask } from './index-channel.js'

/** Builds the index of a list, in whichever thread this is. */
export async function buildList(
  { lists, index, changes }: AllowlistEngine,
  { listId, incarnation, full, threads, leaseMs }: Omit<BuildTask, 'source'>,
  signal: AbortSignal,
): Promise<BuildResult> {
  const list = await lists.get(listId)
  if (list?.incarnation !== incarnation) return 'gone'
  const options = { index, changes, list, full, threads, leaseMs, clock: systemClock, signal }
  return (await buildIndex(options)).outcome
}
