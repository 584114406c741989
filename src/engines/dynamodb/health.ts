import { STORE_KEY } from './allowlist/items.js'
import type { OpenedStore } from './allowlist/open-store.js'
import type { DaxState } from './client/dax-state.js'
import type { Freshness } from './feed/freshness.js'
import { CostReads, type MonthlyCost, monthlyCost } from './spending.js'
import { TableWatch } from './tables/table-watch.js'
import type { DynamodbUrl } from './url.js'

export interface DynamodbHealth {
  region: string
  tables: { allowlists: string; giant: string; guards: string; idempotency: string }
  /** The last status of each table, such as `ACTIVE`. Absent if this process may not query it, or has no answer yet. */
  tableStatus?: Record<string, string>
  /** `partial`: the table was too large to scan for lists of other programs at the start; `adopt` does it. */
  adoption: 'partial' | 'complete'
  /** Rows of other programs that no check finds, counted by the last scan. Absent if there are none. */
  unservedRows?: number
  /**
   * How far the logs that keep indexes fresh are behind the table. Null if no probe has arrived yet, because no relay
   * runs. Absent if it is not measured.
   */
  feedAgeMs?: number | null
  /** What all processes together use now, in a month. Absent until one has run for five minutes. */
  monthlyCost?: MonthlyCost
  /** State of DAX, if it is used. An unreachable cluster is not unhealthy: DynamoDB is read instead. */
  dax?: DaxState
}

/** What one scan for lists of other programs found. */
export interface Adopted {
  adoption: 'partial' | 'complete'
  unserved: number
}

interface HealthParts {
  freshness: Freshness
  probeIntervalMs: number
  now: () => number
  adopted: Adopted
}

/** Reads what `/health` tells of the tables. */
export function healthReader(
  { region, tables }: DynamodbUrl,
  { client, dax }: OpenedStore,
  { freshness, probeIntervalMs, now, adopted }: HealthParts,
): () => Promise<DynamodbHealth> {
  const { allowlists, giant, guards, idempotency } = tables
  const names = { allowlists, giant, guards, idempotency }
  const tableWatch = new TableWatch(client.sdk, names)
  const costs = new CostReads(() => monthlyCost(client, guards, now()))
  const input = { TableName: allowlists, Key: STORE_KEY }
  return async () => {
    const [daxState, , cost] = await Promise.all([
      dax?.look(input),
      client.getItem('health', input),
      costs.read(),
    ])
    const tableStatus = tableWatch.status()
    const facts = {
      ...{ region, tables: names },
      ...(Object.keys(tableStatus).length > 0 && { tableStatus }),
      adoption: adopted.adoption,
      ...(adopted.unserved > 0 && { unservedRows: adopted.unserved }),
      ...(cost !== undefined && { monthlyCost: cost }),
      ...(daxState !== undefined && { dax: daxState }),
    }
    if (probeIntervalMs === 0) return facts
    const ageMs = await freshness.ageMs('allowlists')
    return { ...facts, feedAgeMs: Number.isFinite(ageMs) ? ageMs : null }
  }
}
