/** The public vocabulary of allowlists: what the library returns and the HTTP service sends. */

export type AllowlistType = 'FIXA' | 'ONDA'
export type Precision = 'exact' | 'trusted'
export type WaveStrategy = 'PERCENTAGE' | 'TIME_WINDOW' | 'EXPLICIT_LIST'

/** From `at` (epoch milliseconds) on, the wave is open to this share of customers. */
export interface RampStep {
  at: number
  percentage: number
}

/** The rule of an ONDA list. Times are epoch milliseconds. */
export interface WaveConfig {
  strategy: WaveStrategy
  percentage?: number
  customerIds?: string[]
  startTime?: number
  endTime?: number
  ramp?: RampStep[]
  base?: string
  exclude?: string[]
}

export interface NewAllowlist {
  id?: string
  name: string
  type: AllowlistType
  config?: WaveConfig
  precision?: Precision
}

export interface AllowlistChange {
  name?: string
  config?: WaveConfig
}

export interface Allowlist {
  id: string
  name: string
  type: AllowlistType
  config?: WaveConfig
  /** Of a wave that is paused: since when (ISO 8601), and the rule that `resume` brings back. */
  paused?: { at: string; config: WaveConfig }
  precision: Precision
  customerCount: number
  version: number
  shardCount: number
  createdAt: string
  updatedAt: string
}

export type JsonObject = { [key: string]: unknown }

/** What may be said of a member when it is added. `expiresAt` is ISO 8601. */
export interface MemberInput {
  addedBy?: string
  metadata?: JsonObject
  expiresAt?: string
}

export interface Member {
  customerId: string
  addedAt: string
  addedBy?: string
  metadata?: JsonObject
  expiresAt?: string
}

export interface CustomerAllowlist {
  allowlistId: string
  name: string
  addedAt: string
  expiresAt?: string
}

/** How a list is cut into shards, and how far it is on its way to another number of them. */
export interface ReshardStatus {
  allowlistId: string
  shardCount: number
  moving?: { shards: number; phase: string; copied: number; total: number }
}

export interface Page<T> {
  items: T[]
  nextCursor?: string
}

export interface PageRequest {
  limit?: number
  cursor?: string
}

/** Without anything but a page, lists come by id. */
export interface AllowlistQuery extends PageRequest {
  /** Part of an id or a name, in any case. */
  search?: string
  type?: AllowlistType
  sort?: 'id' | 'name' | 'updatedAt' | 'customerCount'
  order?: 'asc' | 'desc'
}

export interface AllowlistPage extends Page<Allowlist> {
  /** How many match, where something is searched for or sorted. */
  total?: number
}

export interface AddResult {
  added: boolean
  customerCount: number
  token: string
}

export interface RemoveResult {
  removed: boolean
  customerCount: number
  token: string
}

export type CheckReason =
  | 'MEMBER'
  | 'NOT_MEMBER'
  | 'MEMBER_EXPIRED'
  | 'IN_WAVE'
  | 'OUT_OF_WAVE'
  | 'OUTSIDE_WINDOW'
  | 'EXCLUDED'
  | 'ALLOWLIST_NOT_FOUND'
  /** The record of the list, or of one that the wave rests on, cannot be read: it denies. */
  | 'ALLOWLIST_UNREADABLE'
  /** Nothing is known, because the store did not answer, and `onUnavailable` says allow. */
  | 'UNAVAILABLE'

/** What a check answers when neither memory nor the store can tell. */
export type OnUnavailable = 'block' | 'allow'

export interface CheckResult {
  allowlistId: string
  allowed: boolean
  type: AllowlistType | null
  reason: CheckReason
  checkedAt: string
  addedAt?: string
  /** The store did not answer: nobody knows whether this is right. */
  degraded?: true
}

export interface CheckAnswer {
  customerId: string
  results: CheckResult[]
  overallAllowed: boolean
  /** One of the results is. */
  degraded?: true
}

/** One step on the way to an answer. */
export interface ExplainStep {
  step: (typeof EXPLAIN_STEPS)[number]
  outcome: string
  /** In words, for people. */
  detail?: string
  /** The list that the step is about, where it is one that the list asked about rests on. */
  allowlistId?: string
  /** Of `percentage`: where the customer stands, and what is open now. */
  place?: number
  percentage?: number
  durationUs: number
}

export const EXPLAIN_STEPS = [
  'list',
  'window',
  'exclude',
  'base',
  'percentage',
  'explicit',
  'index',
  'overlay',
  'filter',
  'verified',
  'store',
  'expiry',
] as const

export interface ExplainedResult {
  allowlistId: string
  allowed: boolean
  type: AllowlistType | null
  reason: CheckReason
  degraded?: true
  steps: ExplainStep[]
}

/** The answer of a check, and how it came about. */
export interface Explanation {
  customerId: string
  results: ExplainedResult[]
  overallAllowed: boolean
  durationUs: number
}

/** How fresh a check must be: as the pod knows it, straight from the store, or at least as new as a write. */
export interface CheckOptions {
  consistency?: 'strong'
  atLeast?: string
}

/** What is known of a list's membership index. */
export interface IndexStatus {
  allowlistId: string
  /** In this process: in memory and answering, behind the log, or not in memory. */
  state: 'loaded' | 'behind' | 'absent'
  /** By this process or any other. */
  building: boolean
  pages: number
  sizeBytes: number
  /** Customers in the snapshot. */
  customers: number
  /** The log entry up to which the snapshot, or the image in memory, holds the changes. */
  position: number
  /** Customers changed since the snapshot, in memory. */
  overlaySize: number
  /** How far the image in memory may be behind the store; absent when there is none. */
  feedLagMs?: number
  lastBuild?: { at: string; tookMs: number; rebuiltPages: number }
}

export type ImportMode = 'add' | 'replace'
export type ImportFormat = 'csv' | 'ndjson' | 'text'
export type ExportFormat = ImportFormat

export interface ExportOptions {
  format?: ExportFormat
  /** Of CSV: a cell that a spreadsheet would take for a formula gets an apostrophe in front. For eyes, not for an import. */
  spreadsheet?: boolean
}
export type ImportState = 'running' | 'completed' | 'interrupted' | 'failed'

export interface RejectedRow {
  line: number
  message: string
  /** As it came, up to 256 characters; absent where too many rows are told to show them all. */
  row?: string
}

export interface ImportProgress {
  /** Bytes of the body read so far, as they came (still compressed, if they are). */
  bytesRead: number
  /** Rows read so far, without header and blank lines. */
  rowsRead: number
  /** Rows that are stored for good: after a crash, a resumed import goes on behind them. */
  rowsAcknowledged: number
}

export interface ImportOptions {
  mode?: ImportMode
  format?: ImportFormat
  /** Names the import, so that it can be resumed; made up when absent. */
  importId?: string
  /** The body is gzip. When absent it is recognised by its first bytes. */
  gzip?: boolean
  /** `addedBy` of rows that do not say it themselves. */
  addedBy?: string
  /** Of CSV: the column with the ids, by its heading or its number from 1; else `customerId`, or the first. */
  column?: string
  /** Rejected rows that are told one by one: 1 to 1000, 100 when absent. */
  maxErrors?: number
  signal?: AbortSignal
  onProgress?: (progress: ImportProgress) => void
}

export interface ImportResult {
  importId: string
  added: number
  unchanged: number
  removed: number
  rejected: number
  firstErrors: RejectedRow[]
  customerCount: number
  token: string
}

export interface ImportStatus {
  importId: string
  allowlistId: string
  mode: ImportMode
  state: ImportState
  rowsAcknowledged: number
  added: number
  unchanged: number
  removed: number
  rejected: number
  firstErrors: RejectedRow[]
  startedAt: string
  updatedAt: string
  error?: string
}
