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

/** Finds the states of records, and the record of each. No character of an identifier has a meaning in a pattern. */
export function statePattern(
  naming: RecordNaming,
  { operation, prefix }: { operation?: string; prefix: string },
): { pattern: string; keyOf(state: string): RecordKey | undefined } {
  const start = `{${PREFIX.idempotency}:`
  if (naming === 'bare') {
    const keyOf = (state: string) => ({
      operation: operation ?? 'REQUEST',
      key: state.slice(start.length, -END.length),
    })
    return { pattern: `${start}${prefix}*${END}`, keyOf }
  }
  const keyOf = (state: string) => {
    const name = state.slice(start.length, -END.length)
    const split = name.indexOf(':')
    const key = name.slice(split + 1)
    if (split < 0 || !key.startsWith(prefix)) return undefined
    return { operation: name.slice(0, split).replaceAll('%3A', ':'), key }
  }
  return { pattern: `${start}${operation === undefined ? '*' : encoded(operation)}:${prefix}*${END}`, keyOf }
}

const END = '}:state'
