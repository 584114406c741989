import type { MaybePromise } from '../../core/maybe-promise.js'
import type { PreparedEntry } from '../audit/port.js'
import type { ChangeFeed, Position } from './changes/port.js'
import type { IndexStore } from './membership/port.js'
import type { StoredConfig } from './pause.js'
import type { AllowlistType, ImportMode, ImportState, JsonObject, Precision, RejectedRow } from './types.js'

/**
 * What the allowlist guard needs of an engine. Each verb is a decision that the engine makes atomically
 * over all processes; an expected outcome is a value. Times are epoch milliseconds and come from the caller.
 * Customer and list ids arrive checked and in canonical spelling.
 */
export interface AllowlistEngine {
  readonly lists: ListStore
  readonly members: MemberStore
  readonly checks: CheckStore
  readonly bulk: BulkStore
  readonly changes: ChangeFeed
  readonly index: IndexStore
  readonly upkeep: UpkeepStore
}

/** A list as the engine keeps it. */
export interface ListRecord {
  id: string
  /** Which of the lists that ever had this id: never the same twice, so old members cannot come back. */
  incarnation: number
  name: string
  type: AllowlistType
  precision: Precision
  config?: StoredConfig
  /** 32 hexadecimal characters, fixed at creation: decides who is early in a wave. Empty where another program made the list. */
  salt: string
  customerCount: number
  version: number
  shardCount: number
  createdAt: number
  updatedAt: number
}

export type NewListRecord = Pick<ListRecord, 'id' | 'name' | 'type' | 'precision' | 'config' | 'salt'>

export interface ListStore {
  create(list: NewListRecord, now: number): Promise<CreateOutcome>
  get(id: string): Promise<ListRecord | undefined>
  /** Lists by id, behind `after`. */
  page(after: string | undefined, limit: number): Promise<ListRecord[]>
  update(id: string, change: ListChange, now: number): Promise<UpdateOutcome>
  /** From here on the list is gone for everybody; its members are swept by upkeep. */
  delete(id: string, now: number): Promise<boolean>
}

export type CreateOutcome =
  | { outcome: 'created'; list: ListRecord }
  | { outcome: 'exists' }
  | { outcome: 'being-deleted' }

export interface ListChange {
  name?: string
  config?: StoredConfig
  /** Change nothing unless the list has this version. */
  ifVersion?: number
}

export type UpdateOutcome =
  | { outcome: 'updated'; list: ListRecord }
  | { outcome: 'not-found' }
  | { outcome: 'version-mismatch'; version: number }

export interface MemberAttributes {
  addedBy?: string
  metadata?: JsonObject
  expiresAt?: number
}

export interface MemberRecord extends MemberAttributes {
  customerId: string
  addedAt: number
}

export type AddOutcome =
  | { outcome: 'added' | 'replaced'; customerCount: number; token: string }
  | { outcome: 'list-not-found' }

export type RemoveOutcome =
  | { outcome: 'removed' | 'absent'; customerCount: number; token: string }
  | { outcome: 'list-not-found' }

export interface MemberStore {
  /** Whether a note is kept with the change that it tells of: both or neither. Where not, none is given. */
  readonly keepsNotes: boolean
  add(
    listId: string,
    customerId: string,
    attributes: MemberAttributes,
    now: number,
    note?: PreparedEntry,
  ): Promise<AddOutcome>
  remove(listId: string, customerId: string, now: number, note?: PreparedEntry): Promise<RemoveOutcome>
  get(listId: string, customerId: string): Promise<MemberRecord | undefined>
  /** Members in the engine's own order, behind the page whose `next` is given as `after`. */
  page(listId: string, after: string | undefined, limit: number): Promise<MemberPage | undefined>
  /** The lists that hold this customer, by list id, behind `after`. Expired memberships are included. */
  listsOf(customerId: string, after: string | undefined, limit: number): Promise<Membership[]>
}

export interface MemberPage {
  members: MemberRecord[]
  /** What to pass as `after` for the next page; absent at the end. */
  next?: string
}

export interface Membership {
  list: ListRecord
  member: MemberRecord
}

/** What a check sees of a member. */
export interface MemberState {
  /** Absent where membership is known without the store. */
  addedAt?: number
  expiresAt?: number
}

/** `undefined`: as the engine sees it now, within its declared staleness. */
export type Freshness = undefined | 'strong' | { atLeast: string }

/** A list as a check sees it: without what changes at every write. */
export type CheckedList = Omit<ListRecord, 'customerCount' | 'updatedAt'> & {
  /** Which members it means, where the engine's change feed tells that of an image. */
  readonly generation?: number
}

/**
 * The hot path. Answers are values, not promises, wherever the engine can answer without waiting.
 */
export interface CheckStore {
  /** Throws INVALID_INPUT for an `atLeast` token that no write of this store can have returned. */
  view(freshness: Freshness): MaybePromise<CheckView>
  /** What a token says. Throws like `view`. */
  readToken(token: string): WriteToken
}

/** A write that a caller wants to see. */
export interface WriteToken {
  /** Of the list that it changed. */
  readonly incarnation: number
  /** Whether an image of that list at this position provably holds the write. */
  isIn(position: Position): boolean
}

/**
 * `member` sees the list in the state that `list` told of; where the engine can no longer tell that, because the
 * members were replaced meanwhile, it rejects with `ViewChanged` and the whole question must be asked again.
 */
export interface CheckView {
  list(listId: string): MaybePromise<CheckedList | undefined>
  member(list: CheckedList, customerId: string): MaybePromise<MemberState | undefined>
}

export class ViewChanged extends Error {
  override readonly name = 'ViewChanged'
}

/** Customers in ascending key order without repeats, packed so that millions fit memory. */
export interface SortedCustomers {
  readonly count: number
  /** Keys as `customer-key.ts` writes them. */
  readonly bytes: Uint8Array
  start(index: number): number
  end(index: number): number
  attributes(index: number): MemberAttributes | undefined
}

export interface ImportCounts {
  added: number
  unchanged: number
  removed: number
  rejected: number
}

/** How far an import is: enough to go on after a crash without counting anything twice. */
export interface ImportCheckpoint extends ImportCounts {
  /** Input rows whose effect is stored for good. */
  rowsAcknowledged: number
  /** Digest of those rows, to notice another input on resume. */
  inputDigest: string
  /** The run being applied: its digest, and how many of its sorted customers are stored. */
  run?: { digest: string; applied: number }
  firstErrors: RejectedRow[]
}

export interface ImportRecord extends ImportCheckpoint {
  importId: string
  listId: string
  mode: ImportMode
  state: ImportState
  startedAt: number
  updatedAt: number
  error?: string
}

export interface ImportRequest {
  listId: string
  importId: string
  mode: ImportMode
  /** Who runs it: a fresh random string per attempt. */
  owner: string
  leaseMs: number
  /** `addedBy` of the customers that it adds, where their row does not say it. */
  addedBy?: string
}

/** An import that this owner may work on, until its lease runs out. */
export interface ImportSession extends ImportRequest {
  incarnation: number
}

export type BeginOutcome =
  | { outcome: 'begun' | 'resumed' | 'completed'; session: ImportSession; record: ImportRecord }
  | { outcome: 'list-not-found' | 'import-running' | 'replace-running' | 'other-mode' }

/** `lost`: another owner took over, or the list is gone; nothing was written. */
export type BatchOutcome =
  | { outcome: 'stored'; added: number; unchanged: number }
  | { outcome: 'lost' | 'list-not-found' }

export type ReplaceCounts = Pick<ImportCounts, 'added' | 'unchanged' | 'removed'>

export type ReplaceOutcome =
  | ({ outcome: 'replaced' } & ReplaceCounts)
  | { outcome: 'lost' | 'list-not-found' }

export interface BulkStore {
  begin(request: ImportRequest, now: number): Promise<BeginOutcome>
  /**
   * Adds customers [from, to) of a run and stores the checkpoint that `advance` makes of what happened, all in one
   * step. Of those already there, the attributes are replaced when the row says any, and left alone otherwise.
   */
  add(
    session: ImportSession,
    run: SortedCustomers,
    from: number,
    to: number,
    advance: (added: number, unchanged: number) => ImportCheckpoint,
    now: number,
  ): Promise<BatchOutcome>
  /** Renews the lease, and stores a checkpoint when given. False: lost. */
  renew(session: ImportSession, checkpoint: ImportCheckpoint | undefined, now: number): Promise<boolean>
  /**
   * Makes the list hold exactly these customers, in one switch that checks see whole. `runs` ascend over all of
   * them. Changes of single members made since `begin` win over the file. With the switch the import is completed,
   * and the checkpoint that `advance` makes of what happened is stored.
   */
  replace(
    session: ImportSession,
    runs: AsyncIterable<SortedCustomers>,
    advance: (counts: ReplaceCounts) => ImportCheckpoint,
    now: () => number,
  ): Promise<ReplaceOutcome>
  /** Ends the import (a replace that did not switch is undone) and tells the state of the list. */
  finish(
    session: ImportSession,
    checkpoint: ImportCheckpoint,
    state: Exclude<ImportState, 'running'>,
    error: string | undefined,
    now: number,
  ): Promise<{ customerCount: number; token: string } | undefined>
  status(listId: string, importId: string, now: number): Promise<ImportRecord | undefined>
}

export interface UpkeepStore {
  /**
   * Does a bounded piece of the sweeping that is due (deleted lists, replaced generations, expired members,
   * abandoned imports) and tells whether more is waiting.
   */
  sweep(now: number): Promise<{ swept: number; more: boolean }>
}

/**
 * Cutting a list into another number of shards. Only engines that cut lists offer it, beside the `AllowlistEngine`.
 */
export interface ReshardStore {
  /**
   * Moves a list to so many shards while it serves: nothing is lost or invented, checks are answered throughout, and
   * changes wait only for the moment of the switch. One move of a list at a time. Whatever ends it early leaves the
   * list as it was, or moved.
   */
  reshard(listId: string, shards: number, options?: ReshardOptions): Promise<ReshardOutcome>
  /** How far the move of a list is, whoever runs it; undefined when it does not move. */
  progress(listId: string): Promise<(ReshardProgress & { shards: number }) | undefined>
}

export interface ReshardOptions {
  onProgress?: (progress: ReshardProgress) => void
  /** Aborted, the move is given up: it rejects with the reason. */
  signal?: AbortSignal
  /** A mover that is silent for so long counts as dead. */
  leaseMs?: number
}

export interface ReshardProgress {
  /** While `frozen`, changes wait. */
  phase: 'copying' | 'following' | 'frozen'
  copied: number
  /** Members when it began. */
  total: number
}

export type ReshardOutcome =
  | { outcome: 'resharded'; shards: number; customerCount: number }
  | { outcome: 'unchanged' | 'list-not-found' | 'replace-running' | 'reshard-running' }
