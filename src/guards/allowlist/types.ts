import type { WaveNow, WaveState } from './wave/now.js'
import { STRATEGY_STEPS, type StrategyFacts, type WaveConfig } from './wave/strategies.js'

/** Public types of allowlists: what the library returns and the HTTP server sends. */

export type { NextStep, WaveNow, WaveState } from './wave/now.js'
export type { RampStep } from './wave/percentage.js'
export type { WaveConfig, WaveStrategy } from './wave/strategies.js'

export type AllowlistType = 'FIXA' | 'ONDA'
export type Precision = 'exact' | 'trusted'

/** What people say of a list. Checks do not read it. */
export interface ListLabels {
  /** Up to 20, each 1 to 64 of `A-Z a-z 0-9 . _ ~ : @ + = / -`. */
  tags?: string[]
  /** Whom to ask, up to 256 characters. */
  owner?: string
  /** Up to 2,000 characters. */
  description?: string
}

export interface NewAllowlist extends ListLabels {
  id?: string
  name: string
  type: AllowlistType
  config?: WaveConfig
  precision?: Precision
}

/** An empty label clears the label. */
export interface AllowlistChange extends ListLabels {
  name?: string
  config?: WaveConfig
}

/** One list of a set of changes. */
export interface ListSetChange {
  id: string
  /** The version that the list must have. Absent: there must be none with this id. */
  ifVersion?: number
  /** What it becomes: labels that are absent are cleared. Absent: it is deleted. Type and precision of a list cannot change. */
  list?: Omit<NewAllowlist, 'id'>
}

export interface ResumeOptions {
  ifVersion?: number
  /** Steps of the ramp that lie after the pause move by the time that it lasted. */
  shift?: boolean
}

export interface Allowlist extends ListLabels {
  id: string
  name: string
  type: AllowlistType
  config?: WaveConfig
  /** Present while the wave is paused: since when (ISO 8601), and the rule that `resume` restores. */
  paused?: { at: string; config: WaveConfig }
  /** Of a wave: how far it is open at the time of the answer, and what comes next. */
  wave?: WaveNow
  precision: Precision
  customerCount: number
  version: number
  shardCount: number
  createdAt: string
  updatedAt: string
}

export type JsonObject = { [key: string]: unknown }

/** Optional attributes of a new member. `expiresAt` is ISO 8601. */
export interface MemberInput {
  addedBy?: string
  metadata?: JsonObject
  expiresAt?: string
}

export interface Member extends MemberInput {
  customerId: string
  addedAt: string
}

export interface CustomerAllowlist {
  allowlistId: string
  name: string
  addedAt: string
  expiresAt?: string
}

/** The shard count of a list, and the progress of a running reshard. */
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

export interface MemberQuery extends PageRequest {
  /** Only members whose id begins so. UUIDs are stored in lower case. */
  prefix?: string
}

export const LIST_SORTS = ['id', 'name', 'updatedAt', 'customerCount', 'nextStepAt'] as const

/** With only paging fields, lists are sorted by id. */
export interface AllowlistQuery extends PageRequest {
  /** Case-insensitive part of an id, a name, an owner or a tag. */
  search?: string
  /** Case-insensitive beginning of an id or a name. */
  prefix?: string
  /** Lists that have this tag. */
  tag?: string
  /** Lists of this owner, in any case. */
  owner?: string
  /** Waves in this state. */
  state?: WaveState
  /** Waves whose next step comes before this time, ISO 8601. */
  nextStepBefore?: string
  type?: AllowlistType
  sort?: (typeof LIST_SORTS)[number]
  order?: 'asc' | 'desc'
}

export interface AllowlistPage extends Page<Allowlist> {
  /** Number of matching lists. Present only when the query searches or sorts. */
  total?: number
}

/** A wave that depends on a list. */
export interface ListUse {
  allowlistId: string
  name: string
  as: 'base' | 'exclude'
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

export const CHECK_REASONS = [
  'MEMBER',
  'NOT_MEMBER',
  'MEMBER_EXPIRED',
  'IN_WAVE',
  'OUT_OF_WAVE',
  'OUTSIDE_WINDOW',
  'EXCLUDED',
  'ALLOWLIST_NOT_FOUND',
  /** The record of the list, or of a list that the wave depends on, cannot be read. The check denies. */
  'ALLOWLIST_UNREADABLE',
  /** The store did not answer, and `onUnavailable` or `onNotInMemory` is `allow`. */
  'UNAVAILABLE',
] as const
export type CheckReason = (typeof CHECK_REASONS)[number]

/**
 * What a check returns when neither fresh memory nor the store can answer: an error, allowed, or what memory last
 * knew.
 */
export const ON_UNAVAILABLE = ['block', 'allow', 'last-known'] as const
export type OnUnavailable = (typeof ON_UNAVAILABLE)[number]

export interface CheckResult {
  allowlistId: string
  allowed: boolean
  type: AllowlistType | null
  reason: CheckReason
  checkedAt: string
  addedAt?: string
  /** The store did not answer, so this result may be wrong. */
  degraded?: true
  /** Of a degraded result that memory gave: when memory was last known to be right (ISO 8601). */
  asOf?: string
}

export interface CheckAnswer {
  customerId: string
  results: CheckResult[]
  overallAllowed: boolean
  /** At least one result is degraded. */
  degraded?: true
  /** The oldest `asOf` of the results. */
  asOf?: string
}

/** One step of the decision. */
export interface ExplainStep extends StrategyFacts {
  step: (typeof EXPLAIN_STEPS)[number]
  outcome: string
  /** Explanation for people. */
  detail?: string
  /** The list that this step is about, if it is not the checked list but one that it depends on. */
  allowlistId?: string
  durationUs: number
}

export const EXPLAIN_STEPS = [
  'list',
  'window',
  'exclude',
  'base',
  ...STRATEGY_STEPS,
  'index',
  'overlay',
  'filter',
  'verified',
  'store',
  'expiry',
] as const

/** The facts behind a verdict, for one sentence. Times are ISO 8601. */
export interface Why {
  /** The list that a wave depends on, and that decided: its base, or an exclusion. */
  decidedBy?: string
  /** Where the customer stands in the wave, and the share that is open, from 0 to 1. */
  place?: number
  share?: number
  /** When the rule reaches a customer who is out, as far as it is planned. */
  reachesAt?: string
  /** No planned step reaches the customer. */
  neverReached?: true
  pausedAt?: string
  opensAt?: string
  closedAt?: string
  /** When the membership expired. */
  expiredAt?: string
}

export interface ExplainedResult extends Omit<CheckResult, 'checkedAt' | 'addedAt'> {
  /** Of the list, if it exists. */
  name?: string
  why?: Why
  steps: ExplainStep[]
}

/** The result of a check, and the steps that led to it. */
export interface Explanation {
  customerId: string
  results: ExplainedResult[]
  overallAllowed: boolean
  durationUs: number
  /** Of an explanation of all lists: there are more. */
  nextCursor?: string
}

/** An explanation of all lists, page by page. A page may be short, or empty, although there is more. */
export interface ExplainQuery extends PageRequest {
  type?: AllowlistType
  outcome?: 'allowed' | 'denied'
}

/** Some customers who pass a wave now. */
export interface WaveSample {
  items: { customerId: string }[]
  /** How many members of the base were looked at. */
  examined: number
  /** Whether there may be others. */
  more: boolean
}

/**
 * How fresh a check must be. Default: what this process knows. `strong`: read from the store. `atLeast`: includes
 * the write that returned this token.
 */
export interface CheckOptions {
  consistency?: 'strong'
  atLeast?: string
}

/** The state of a list's membership index. */
export interface IndexStatus {
  allowlistId: string
  /**
   * In this process. `loaded`: in memory and answering. `behind`: not yet caught up with
   * the log. `absent`: not in memory.
   */
  state: 'loaded' | 'behind' | 'absent'
  /** Whether any process is building the snapshot. */
  building: boolean
  pages: number
  sizeBytes: number
  /** Customers in the snapshot. */
  customers: number
  /** The last log entry included in the snapshot, or in the image in memory. */
  position: number
  /** Customers changed since the snapshot, held in memory. */
  overlaySize: number
  /** How far the image in memory may be behind the store. Absent when there is no image. */
  feedLagMs?: number
  lastBuild?: { at: string; tookMs: number; rebuiltPages: number }
}

/** `remove`: the customers of the input are no longer members afterwards. */
export const IMPORT_MODES = ['add', 'replace', 'remove'] as const
export type ImportMode = (typeof IMPORT_MODES)[number]
export type ImportFormat = 'csv' | 'ndjson' | 'text'
export type ExportFormat = ImportFormat

export interface ExportOptions {
  format?: ExportFormat
  /**
   * CSV only: puts an apostrophe before cells that a spreadsheet would run as a formula.
   * For viewing, not for re-import.
   */
  spreadsheet?: boolean
}
export type ImportState = 'running' | 'completed' | 'interrupted' | 'failed'

export interface RejectedRow {
  line: number
  message: string
  /** The row as received, up to 256 characters. Absent when there are too many rejected rows to include them all. */
  row?: string
}

export interface ImportProgress {
  /** Bytes of the body read so far, before decompression. */
  bytesRead: number
  /** Rows read so far, without the header and blank lines. */
  rowsRead: number
  /** Rows stored durably. After a crash, a resumed import continues after them. */
  rowsAcknowledged: number
}

export interface ImportOptions {
  mode?: ImportMode
  format?: ImportFormat
  /** Names the import so that it can be resumed. Generated when absent. */
  importId?: string
  /** The body is gzip. When absent, the first bytes decide. */
  gzip?: boolean
  /** `addedBy` for rows that have none. */
  addedBy?: string
  /** CSV only: the column with the ids, by heading or by number from 1. Default: `customerId`, or the first column. */
  column?: string
  /** How many rejected rows to return: 1 to 1000, default 100. */
  maxErrors?: number
  signal?: AbortSignal
  onProgress?: (progress: ImportProgress) => void
}

export interface ImportCounts {
  added: number
  unchanged: number
  removed: number
  rejected: number
  /** Imported CSV rows with more cells than the first row: these cells were not imported. Absent when there are none. */
  rowsWithExtraCells?: number
}

export interface ImportResult extends ImportCounts {
  importId: string
  firstErrors: RejectedRow[]
  customerCount: number
  token: string
}

export interface ImportStatus extends ImportCounts {
  importId: string
  allowlistId: string
  mode: ImportMode
  state: ImportState
  rowsAcknowledged: number
  firstErrors: RejectedRow[]
  startedAt: string
  updatedAt: string
  error?: string
}
