import type { Check } from '../../core/diagnosis.js'
import { engineChecks } from '../../engines/registry.js'
import { SERVING_CHECKS, SOURCE_CHECKS } from './configuration.js'
import { MACHINE_CHECKS } from './machine.js'
import { REACH_CHECK, SERVER_CHECKS } from './server.js'

/** Every check that `catraca doctor` makes, in its order. */
export async function allChecks(): Promise<Check<never>[]> {
  const ofEngines = await engineChecks()
  return [...SOURCE_CHECKS, ...MACHINE_CHECKS, ...SERVING_CHECKS, ...ofEngines, REACH_CHECK, ...SERVER_CHECKS]
}
