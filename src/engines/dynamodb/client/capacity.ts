import type { CapacityCounter, CapacityUse } from './options.js'

interface CapacityRow {
  verb: string
  operation: string
  table: string
  calls: number
  readUnits: number
  writeUnits: number
}

interface RetryRow {
  verb: string
  operation: string
  refused: number
  retried: number
}

/** Sums by verb, operation and table. */
export class CapacityCounts implements CapacityCounter {
  private readonly rowsByVerb = new Map<string, Map<string, CapacityRow>>()
  private readonly retriesByVerb = new Map<string, Map<string, RetryRow>>()

  used({ verb, operation, table, readUnits, writeUnits }: CapacityUse): void {
    // A table's name has no slash, so the two parts cannot be confused.
    const row = within(this.rowsByVerb, verb, `${operation}/${table}`, () => ({
      verb,
      operation,
      table,
      calls: 0,
      readUnits: 0,
      writeUnits: 0,
    }))
    row.calls++
    row.readUnits += readUnits
    row.writeUnits += writeUnits
  }

  refused(verb: string, operation: string): void {
    this.retryRow(verb, operation).refused++
  }

  retried(verb: string, operation: string, times: number): void {
    this.retryRow(verb, operation).retried += times
  }

  rows(): CapacityRow[] {
    return [...this.rowsByVerb.values()].flatMap((byKey) => [...byKey.values()].map((row) => ({ ...row })))
  }

  retries(): RetryRow[] {
    return [...this.retriesByVerb.values()].flatMap((byKey) => [...byKey.values()].map((row) => ({ ...row })))
  }

  /** The total of a verb, over all operations and tables. */
  of(verb: string): { calls: number; readUnits: number; writeUnits: number } {
    const sum = { calls: 0, readUnits: 0, writeUnits: 0 }
    for (const row of this.rowsByVerb.get(verb)?.values() ?? []) {
      sum.calls += row.calls
      sum.readUnits += row.readUnits
      sum.writeUnits += row.writeUnits
    }
    return sum
  }

  reset(): void {
    this.rowsByVerb.clear()
    this.retriesByVerb.clear()
  }

  private retryRow(verb: string, operation: string): RetryRow {
    return within(this.retriesByVerb, verb, operation, () => ({ verb, operation, refused: 0, retried: 0 }))
  }
}

function within<T>(rows: Map<string, Map<string, T>>, verb: string, key: string, make: () => T): T {
  let byKey = rows.get(verb)
  if (byKey === undefined) rows.set(verb, (byKey = new Map()))
  let row = byKey.get(key)
  if (row === undefined) byKey.set(key, (row = make()))
  return row
}

export const uncounted: CapacityCounter = { used: () => {}, refused: () => {}, retried: () => {} }

/** What a response says about it. */
interface ConsumedCapacity {
  TableName?: string | undefined
  CapacityUnits?: number | undefined
  ReadCapacityUnits?: number | undefined
  WriteCapacityUnits?: number | undefined
}

/** Reports the capacity that a response says it consumed. */
export function countUse(
  counter: CapacityCounter,
  verb: string,
  operation: string,
  kind: 'read' | 'write',
  consumed: ConsumedCapacity | ConsumedCapacity[] | undefined,
): void {
  if (consumed === undefined) return
  for (const one of Array.isArray(consumed) ? consumed : [consumed]) {
    const total = one.CapacityUnits ?? 0
    counter.used({
      verb,
      operation,
      table: one.TableName ?? '',
      readUnits: one.ReadCapacityUnits ?? (kind === 'read' ? total : 0),
      writeUnits: one.WriteCapacityUnits ?? (kind === 'write' ? total : 0),
    })
  }
}
