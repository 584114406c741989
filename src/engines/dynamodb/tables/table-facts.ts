import type { TableRole } from './tables.js'

interface IndexState {
  name: string
  status: string
  keys: string[]
  projection: string
}

/** The actual state of a table. */
export interface TableState {
  role: TableRole
  name: string
  /** `MISSING`, or the status of DynamoDB: `ACTIVE`, `CREATING`, … */
  status: string
  arn?: string
  /** Partition key and sort key with their types, such as `PK S`. */
  keys: string[]
  billing?: string
  indexes: IndexState[]
  /** The view type of the stream, if there is one. */
  stream?: string
  streamArn?: string
  /** The TTL attribute, if TTL is on. */
  ttlAttribute?: string
  /** `unknown` if the endpoint does not support it, as emulators. */
  pointInTimeRecovery: 'on' | 'off' | 'unknown'
  /** Estimates of DynamoDB, updated every few hours. */
  itemCount?: number
  sizeBytes?: number
}

export interface Difference {
  role: TableRole
  table: string
  /** What differs: `table`, `status`, `keys`, `billing`, `stream`, `ttl`, `point-in-time recovery`, `index NAME`. */
  what: string
  expected: string
  found: string
  /** Whether a server cannot work with this difference. Others cost money, space or the ability to recover. */
  blocks: boolean
}

export interface TableCreation {
  role: TableRole
  table: string
  created: boolean
  /** What was off in an existing table and is on now: `stream`, `ttl`, `point-in-time recovery`. */
  turnedOn: string[]
  /** What still differs, because no call can change it in place or because it costs money. */
  differences: Difference[]
}
