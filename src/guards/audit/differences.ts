import { isDeepStrictEqual } from 'node:util'
import type { AuditDifference } from './types.js'

const MOST = 100
/** Says nothing that a reader of the change wants to know. */
const LEFT_OUT = new Set(['version'])

/** What differs between two states, field by field. Lists differ as a whole. */
export function differences(before: unknown, after: unknown): AuditDifference[] {
  const found: AuditDifference[] = []
  compare('', before, after, found)
  return found
}

function compare(field: string, before: unknown, after: unknown, found: AuditDifference[]): void {
  if (found.length === MOST || isDeepStrictEqual(before, after)) return
  if (!isFields(before ?? after) || !isFields(after ?? before)) {
    if (field === '') return
    found.push({ field, ...(before !== undefined && { before }), ...(after !== undefined && { after }) })
    return
  }
  const [old, next] = [before ?? {}, after ?? {}] as Record<string, unknown>[]
  for (const name of new Set([...Object.keys(old!), ...Object.keys(next!)])) {
    if (LEFT_OUT.has(name)) continue
    compare(field === '' ? name : `${field}.${name}`, own(old!, name), own(next!, name), found)
  }
}

const own = (fields: Record<string, unknown>, name: string): unknown =>
  Object.hasOwn(fields, name) ? (fields[name] ?? undefined) : undefined

const isFields = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !('cut' in value)
