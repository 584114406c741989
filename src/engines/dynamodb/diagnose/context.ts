import { type CheckResult, ok, problem } from '../../../core/diagnosis.js'
import type { DynamoClient } from '../client/client.js'
import type { ServerClock } from '../client/server-clock.js'
import type { QueueClientOptions } from '../options.js'
import type { Difference, TableState } from '../tables/table-facts.js'
import { differencesOf } from '../tables/table-state.js'
import type { DynamodbUrl } from '../url.js'

export interface DynamodbFacts {
  url: DynamodbUrl
  client: DynamoClient
  serverClock: ServerClock
  /** Empty until the tables could be described. */
  tables: readonly TableState[]
  /** Whether allowlists are stored here: only they have a feed. */
  hasAllowlists: boolean
  probeIntervalMs: number
  topicArn: string | undefined
  queues: QueueClientOptions
  now: () => number
}

/** The differences of that kind, by the names of `verify`. A missing table has only that one. */
export function differing(
  { tables }: DynamodbFacts,
  isMeant: (what: string) => boolean,
  fine: string,
): CheckResult[] {
  const differences = tables.flatMap(differencesOf).filter(({ what }) => isMeant(what))
  if (differences.length === 0) return [ok(fine)]
  return differences.map((one) => ({ ...problem(sentence(one)), level: one.blocks ? 'problem' : 'warning' }))
}

const sentence = ({ table, what, expected, found }: Difference): string =>
  `${table}: ${what} is ${found}, not ${expected}`
