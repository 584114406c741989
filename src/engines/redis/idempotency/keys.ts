import type { RecordKey } from '../../../guards/idempotency/types.js'

/**
 * How records are named. `operation`: by operation and key. `bare`: by the key alone, as one of the sources has it;
 * then the same key of two operations is the same record.
 */
export type RecordNaming = 'operation' | 'bare'

const PREFIX = 'bridge:idempotency:'
const encoded = (part: string): string => (part.includes(':') ? part.replaceAll(':', '%3A') : part)

/** The main key, and that of the state. No identifier holds `%` or a brace, so none can forge another's. */
export function recordKeys(
  naming: RecordNaming,
  { operation, key }: RecordKey,
): [main: string, state: string] {
  const main = naming === 'bare' ? `${PREFIX}${key}` : `${PREFIX}${encoded(operation)}:${key}`
  return [main, `{${main}}:state`]
}
