import { CatracaError } from '../../../core/errors.js'
import type { ListRecord } from '../port.js'
import { placeBy } from './hash.js'
import { type StrategyFacts, type StrategyStep, strategyOf } from './strategies.js'
import type { Admission } from './strategy.js'

/** The rule of an ONDA list, compiled once so that a check only computes. */
export interface CompiledWave {
  /** Who is in while the time window is open. */
  readonly admission: Admission<StrategyFacts>
  /** The step of the strategy in `explain`. */
  readonly step: StrategyStep | undefined
}

/** An unknown strategy, written by a newer version, must not open the wave. */
const NOBODY: Admission = { admits: () => false }

export function compileWave({ config, salt }: Pick<ListRecord, 'config' | 'salt'>): CompiledWave {
  if (config === undefined) throw new CatracaError('INTERNAL', 'a wave needs a config')
  const strategy = strategyOf(config)
  return {
    admission: strategy?.compile(config, placeBy(salt)) ?? NOBODY,
    step: strategy?.step,
  }
}
