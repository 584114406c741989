import type { RecordKey } from '../../../guards/idempotency/types.js'

/**
 * How record keys are built. `operation`: from operation and key. `bare`: from the key alone, as in one of the source
 * designs; then the same key of two operations is the same record.
 */
export type RecordNaming = 'operation' | 'bare'

const PREFIX = 'bridge:idempotency:'
const encoded = (part: string): string => (part.includes(':') ? part.replaceAll(':', '%3A') : part)

/** The main key and the key of the state. No identifier contains `%` or a brace, so none can forge another's. */
export function recordKeys(
  naming: RecordNaming,
  { operation, key }: RecordKey,
): [main: string, state: string] {
  const main = naming === 'bare' ? `${PREFIX}${key}` : `${PREFIX}${encoded(operation)}:${key}`
  return [main, `{${main}}:state`]
}
