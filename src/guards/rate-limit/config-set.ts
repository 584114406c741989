import { conflict } from '../../core/change-set.js'
import { fingerprint } from '../../core/fingerprint.js'
import type { ConfigSetOutcome, ConfigSetStep } from './port.js'
import type { EntityRecord, LevelConfig } from './types.js'

/** The version of a stored record, for `ifMatch`: a hash of its fields. */
export const configVersion = (record: LevelConfig | EntityRecord): string => fingerprint(record)

/** Whether the stored record is not the one that the change expects. */
export const differs = (step: ConfigSetStep, stored: LevelConfig | EntityRecord | undefined): boolean =>
  (stored && configVersion(stored)) !== step.ifMatch

const nameOfStep = (step: ConfigSetStep): string =>
  'entity' in step
    ? `entity ${step.entity}`
    : [step.key.level, 'entity' in step.key && step.key.entity, step.key.resource].filter(Boolean).join(' ')

/** How many were changed, or the error that names what somebody else changed. */
export function changedOrConflict(
  outcome: ConfigSetOutcome,
  steps: readonly ConfigSetStep[],
): { changed: number } {
  if (outcome.outcome === 'changed') return { changed: steps.length }
  return conflict(
    outcome.at.map((at) => nameOfStep(steps[at]!)),
    outcome.changed,
  )
}
