import type { MaybePromise } from '../../core/maybe-promise.js'
import type { PreparedEntry } from '../audit/port.js'
import type { ChangeFeed, Position } from './changes/port.js'
import type { IndexStore } from './membership/port.js'
import type { StoredConfig } from './pause.js'
import type {
  AllowlistType,
  ImportCounts,
  ImportMode,
  ImportState,
  JsonObject,
  ListLabels,
  Precision,
  RejectedRow,
} from './types.js'

/**
 * What the allowlist guard needs from an engine. The engine executes each verb atomically across all processes.
 * Expected outcomes are return values, not errors. Times are epoch milliseconds from the caller's clock. Customer
 * and list ids are already validated and in canonical spelling.
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

/** A list as the engine stores it. */
export interface ListRecord extends ListLabels {
  id: string
  /**
   * Distinguishes this list from earlier lists with the same id. Never reused, so members
   * of a deleted list cannot reappear.
   */
  incarnation: number
  name: string
  type: AllowlistType
  precision: Precision
  config?: StoredConfig
  /**
   * 32 hexadecimal characters, fixed at creation. Decides which customers enter a wave early. Empty if another
   * program created the list.
   */
  salt: string
  customerCount: number
  version: number
  shardCount: number
  createdAt: number
  updatedAt: number
}

export type NewListRecord = Pick<
  ListRecord,
  'id' | 'name' | 'type' | 'precision' | 'config' | 'salt' | keyof ListLabels
>

export interface ListStore {
  create(list: NewListRecord, now: number): Promise<CreateOutcome>
  get(id: string): Promise<ListRecord | undefined>
  /** Lists in id order, starting after `after`. */
  page(after: string | undefined, limit: number): Promise<ListRecord[]>
  update(id: string, change: ListChange, now: number): Promise<UpdateOutcome>
  /** After this call no process sees the list. Upkeep deletes its members later. */
  delete(id: string, now: number): Promise<boolean>
  /**
   * Makes all changes, or none if a list is not as expected. Each list is named once. An engine that cannot change
   * many lists in one transaction compares all of them first, and then changes them in order: only there `changed`
   * can be above 0, and only there a crash can leave a part of the set made.
   */
  changeAll(steps: readonly ListSetStep[], now: number): Promise<ListSetOutcome>
}

/** For engines that make a set of changes list by list. */
export type SingleLists = Omit<ListStore, 'changeAll'>

/** One list of a set of changes. */
export type ListSetStep =
  | { step: 'create'; list: NewListRecord }
  | ({ step: 'update'; id: string; ifVersion: number; name: string; config?: StoredConfig } & ListLabels)
  | { step: 'delete'; id: string; ifVersion: number }

/** `ids`: the lists that are not as expected. `changed`: how many steps were made nevertheless. */
export type ListSetOutcome =
  | { outcome: 'changed' }
  | { outcome: 'conflict' | 'being-deleted'; ids: string[]; changed: number }

export type CreateOutcome =
  | { outcome: 'created'; list: ListRecord }
  | { outcome: 'exists' }
  | { outcome: 'being-deleted' }

/** Absent fields stay. An empty label clears the label, and a record then has none. */
export interface ListChange extends ListLabels {
  name?: string
  config?: StoredConfig
  /** Update only if the list has this version. */
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
  /**
   * Whether the engine stores an audit entry in the same transaction as the change. If
   * false, the guard passes no `note`.
   */
  readonly storesAuditEntries: boolean
  add(
    listId: string,
    customerId: string,
    attributes: MemberAttributes,
    now: number,
    note?: PreparedEntry,
  ): Promise<AddOutcome>
  remove(listId: string, customerId: string, now: number, note?: PreparedEntry): Promise<RemoveOutcome>
  get(listId: string, customerId: string): Promise<MemberRecord | undefined>
  /**
   * Members in the engine's own order. `after` is the `next` of the previous page. With a prefix, only members whose
   * id begins so; an engine that does not keep members in order examines a bounded number of them, and a page may
   * then be empty although more follow.
   */
  page(
    listId: string,
    after: string | undefined,
    limit: number,
    prefix?: string,
  ): Promise<MemberPage | undefined>
  /** Lists that contain this customer, in list id order, starting after `after`. Includes expired memberships. */
  listsOf(customerId: string, after: string | undefined, limit: number): Promise<Membership[]>
}

/**
 * A member store with a deadline over each call of a caller that changes a member. `since` is when that call began, on
 * the monotonic clock.
 */
export interface TimedMembers extends Pick<MemberStore, 'get' | 'page' | 'listsOf'> {
  /** Waits for what a change needs to know first. When that is late, nothing was changed. */
  readFirst<T>(read: Promise<T>, since: number): Promise<T>
  add(
    listId: string,
    customerId: string,
    attributes: MemberAttributes,
    now: number,
    since: number,
  ): Promise<AddOutcome>
  remove(listId: string, customerId: string, now: number, since: number): Promise<RemoveOutcome>
}

export interface MemberPage {
  members: MemberRecord[]
  /** Pass it as `after` to read the next page. Absent on the last page. */
  next?: string
}

export interface Membership {
  list: ListRecord
  member: MemberRecord
}

/** The fields of a member that a check needs. */
export interface MemberState {
  /** Absent when the check knew the membership without reading the store. */
  addedAt?: number
  expiresAt?: number
}

/** `undefined`: the engine's current view, within its declared staleness. */
export type Freshness = undefined | 'strong' | { atLeast: string }

/** A list as a check sees it, without the fields that change at every write. */
export type CheckedList = Omit<ListRecord, 'customerCount' | 'updatedAt' | keyof ListLabels> & {
  /** The generation of the member set, from engines whose change feed reports generations (`LogPart.generation`). */
  readonly generation?: number
}

/** The hot path. A method returns a promise only when the engine must wait. */
export interface CheckStore {
  /** Throws INVALID_INPUT if no write to this store can have returned the `atLeast` token. */
  view(freshness: Freshness): MaybePromise<CheckView>
  /** Decodes a token. Throws like `view`. */
  readToken(token: string): WriteToken
  /**
   * A token for all that an image of the list at this position contains: a check with it sees at least as much.
   * Undefined if the engine cannot tell.
   */
  tokenAt(list: CheckedList, position: Position): string | undefined
}

/** A decoded write token: the write that a caller requires a check to see. */
export interface WriteToken {
  /** Incarnation of the list that the write changed. */
  readonly incarnation: number
  /** Whether an in-memory image of the list at this position certainly contains the write. */
  isIn(position: Position): boolean
}

/**
 * `member` reads the list in the state that `list` returned. If the members were replaced in between and the
 * engine cannot do that, it rejects with `ViewChanged`, and the caller must repeat the whole check.
 */
export interface CheckView {
  list(listId: string): MaybePromise<CheckedList | undefined>
  /**
   * `atLeast`: the caller knows all changes of this customer since that position, so a copy of the store that has
   * reached it may answer. Absent: only the store itself.
   */
  member(list: CheckedList, customerId: string, atLeast?: Position): MaybePromise<MemberState | undefined>
}

export class ViewChanged extends Error {
  override readonly name = 'ViewChanged'
}

/** Customers in ascending key order without duplicates, packed so that millions fit in memory. */
export interface SortedCustomers {
  readonly count: number
  /** Keys as encoded by `customer-key.ts`. */
  readonly bytes: Uint8Array
  start(index: number): number
  end(index: number): number
  attributes(index: number): MemberAttributes | undefined
}

/** The progress of an import. Enough to resume after a crash without counting a row twice. */
export interface ImportCheckpoint extends ImportCounts {
  /** Input rows whose effect is stored durably. */
  rowsAcknowledged: number
  /** Digest of those rows. Detects a different input on resume. */
  inputDigest: string
  /** The run being applied: its digest, and the number of its sorted customers already stored. */
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
  /** Identifies the process that runs the import: a new random string for each attempt. */
  owner: string
  leaseMs: number
  /** `addedBy` for customers whose row has none. */
  addedBy?: string
}

/** An import that this owner may work on until its lease expires. */
export interface ImportSession extends ImportRequest {
  incarnation: number
}

export type BeginOutcome =
  | { outcome: 'begun' | 'resumed' | 'completed'; session: ImportSession; record: ImportRecord }
  | { outcome: 'list-not-found' | 'import-running' | 'replace-running' | 'other-mode' }

/** `lost`: another owner took over, or the list was deleted. Nothing was written. */
export type BatchOutcome =
  | { outcome: 'stored'; added: number; unchanged: number }
  | { outcome: 'lost' | 'list-not-found' }

export type ReplaceCounts = Pick<ImportCounts, 'added' | 'unchanged' | 'removed'>

export type ReplaceOutcome =
  | ({ outcome: 'replaced' } & ReplaceCounts)
  | { outcome: 'lost' | 'list-not-found' }

export const MAX_LISTED_IMPORTS = 500

export interface BulkStore {
  begin(request: ImportRequest, now: number): Promise<BeginOutcome>
  /**
   * Adds customers [from, to) of a run and stores the checkpoint that `advance` returns, in one atomic step. If a
   * customer is already a member, its attributes are replaced only when the row has some.
   */
  add(
    session: ImportSession,
    run: SortedCustomers,
    from: number,
    to: number,
    advance: (added: number, unchanged: number) => ImportCheckpoint,
    now: number,
  ): Promise<BatchOutcome>
  /** Renews the lease, and stores the checkpoint if given. False: the lease was lost. */
  renew(session: ImportSession, checkpoint: ImportCheckpoint | undefined, now: number): Promise<boolean>
  /**
   * Makes the list contain exactly these customers. Checks see the change as one switch. Customers ascend across
   * all `runs`. Single-member changes made since `begin` override the file. The switch also completes the import
   * and stores the checkpoint that `advance` returns.
   */
  replace(
    session: ImportSession,
    runs: AsyncIterable<SortedCustomers>,
    advance: (counts: ReplaceCounts) => ImportCheckpoint,
    now: () => number,
  ): Promise<ReplaceOutcome>
  /** Ends the import and returns the state of the list. A replace that has not switched is undone. */
  finish(
    session: ImportSession,
    checkpoint: ImportCheckpoint,
    state: Exclude<ImportState, 'running'>,
    error: string | undefined,
    now: number,
  ): Promise<{ customerCount: number; token: string } | undefined>
  status(listId: string, importId: string, now: number): Promise<ImportRecord | undefined>
  /** The records of the imports of a list, the latest first. Examines at most `MAX_LISTED_IMPORTS`. */
  list(listId: string, limit: number, now: number): Promise<ImportRecord[]>
}

export interface UpkeepStore {
  /**
   * Does one bounded step of the pending cleanup (deleted lists, replaced generations, expired members, abandoned
   * imports). `more`: there is more to do.
   */
  sweep(now: number): Promise<{ swept: number; more: boolean }>
}

/** Changes the number of shards of a list. Only engines that shard lists provide it, beside the `AllowlistEngine`. */
export interface ReshardStore {
  /**
   * Moves a list to `shards` shards while it serves. No member is lost or invented. Checks are answered
   * throughout; changes wait only during the switch. One move per list at a time. If the move ends early, the list
   * is either unchanged or fully moved.
   */
  reshard(listId: string, shards: number, options?: ReshardOptions): Promise<ReshardOutcome>
  /** Progress of a running move, in any process. Undefined if the list is not being moved. */
  progress(listId: string): Promise<(ReshardProgress & { shards: number }) | undefined>
}

export interface ReshardOptions {
  onProgress?: (progress: ReshardProgress) => void
  /** Cancels the move. `reshard` then rejects with the abort reason. */
  signal?: AbortSignal
  /** A mover that has not renewed its lease for this long counts as dead. */
  leaseMs?: number
}

export interface ReshardProgress {
  /** Changes wait while the phase is `frozen`. */
  phase: 'copying' | 'following' | 'frozen'
  copied: number
  /** Number of members when the move began. */
  total: number
}

export type ReshardOutcome =
  | { outcome: 'resharded'; shards: number; customerCount: number }
  | { outcome: 'unchanged' | 'list-not-found' | 'replace-running' | 'reshard-running' }
