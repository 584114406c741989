import { createHash, randomBytes } from 'node:crypto'
import { identifier } from '../../core/identifiers.js'

/** Adjustments of a lease that are known by their names: those that somebody may still ask for again. */
export const KNOWN_ADJUSTMENTS = 64
const NAME_BYTES = 12

export const newAdjustmentId = (): string => randomBytes(NAME_BYTES).toString('base64url')

/** The name of an adjustment in the store: short, whatever the caller calls it. */
export function adjustmentName(id: string): string {
  const digest = createHash('sha256').update(identifier('adjustmentId', id)).digest()
  return digest.subarray(0, NAME_BYTES).toString('base64url')
}

/** The names with one more; the oldest leave. */
export const withAdjustment = (known: readonly string[], name: string): string[] =>
  [...known, name].slice(-KNOWN_ADJUSTMENTS)
