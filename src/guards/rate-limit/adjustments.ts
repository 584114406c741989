import { createHash, randomBytes } from 'node:crypto'
import { identifier } from '../../core/identifiers.js'

/** How many adjustment names of a lease are remembered, to recognise retries. */
const KNOWN_ADJUSTMENTS = 64
const NAME_BYTES = 12

export const newAdjustmentId = (): string => randomBytes(NAME_BYTES).toString('base64url')

/** The name of an adjustment in the store: short, whatever id the caller chose. */
export function adjustmentName(id: string): string {
  const digest = createHash('sha256').update(identifier('adjustmentId', id)).digest()
  return digest.subarray(0, NAME_BYTES).toString('base64url')
}

/** Adds a name and drops the oldest. */
export const withAdjustment = (known: readonly string[], name: string): string[] =>
  [...known, name].slice(-KNOWN_ADJUSTMENTS)
