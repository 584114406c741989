import type { RecordKey } from '../../../guards/idempotency/types.js'
import { encoded, PREFIX } from '../keys.js'

/**
 * How record keys are built. `operation`: from operation and key. `bare`: from the key alone, as in one of the source
 * designs; then the same key of two operations is the same record.
 */
export type RecordNaming = 'operation' | 'bare'

/** The main key and the key of the state. No identifier contains `%` or a brace, so none can forge another's. */
export function recordKeys(
  naming: RecordNaming,
  { operation, key }: RecordKey,
): [main: string, state: string] {
  const main =
    naming === 'bare' ? `${PREFIX.idempotency}:${key}` : `${PREFIX.idempotency}:${encoded(operation)}:${key}`
  return [main, `{${main}}:state`]
}
