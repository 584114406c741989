import type { TestContext } from 'node:test'
import type { Catraca, OpenOptions } from '../../../src/app/open-catraca.js'
import { ManualClock } from '../../../src/core/clock.js'
import { openPatiently } from '../../support/patient.js'

export const NOW = Date.UTC(2030, 0, 1)
export const FIXA = { id: 'vip', name: 'VIP', type: 'FIXA' } as const

/** A store of its own, gone when the test ends, and its clock. */
export async function open(
  t: TestContext,
  options: OpenOptions = {},
): Promise<{ catraca: Catraca; clock: ManualClock }> {
  const clock = new ManualClock(NOW)
  const catraca = await openPatiently({ store: 'memory:', clock, sweepIntervalMs: 0, ...options })
  t.after(() => catraca.close())
  return { catraca, clock }
}
